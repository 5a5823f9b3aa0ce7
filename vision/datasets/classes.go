package datasets

import "strings"

func lines(s string) []string { return strings.Fields(s) }

var (
	digitClasses = strings.Split("0123456789", "")
	mnistClasses = []string{"0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six",
		"7 - seven", "8 - eight", "9 - nine"}
	fashionClasses = []string{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
		"Ankle boot"}
	kmnistClasses = []string{"o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"}
)

// emnistClasses are the classes of each split of EMNIST. Letters that look alike in both cases are one class in some;
// the letters begin at label 1.
func emnistClasses() map[string][]string {
	const digits, upper, lower = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
	split := func(s string) []string { return strings.Split(s, "") }
	merged := strings.NewReplacer("c", "", "i", "", "j", "", "k", "", "l", "", "m", "", "o", "", "p", "", "s", "", "u", "",
		"v", "", "w", "", "x", "", "y", "", "z", "").Replace(lower)
	some := split(digits + upper + merged)
	return map[string][]string{"byclass": split(digits + upper + lower), "bymerge": some, "balanced": some,
		"letters": append([]string{"N/A"}, split(lower)...), "digits": split(digits), "mnist": split(digits)}
}
