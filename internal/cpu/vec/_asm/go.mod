module gotorch-dev/vecgen

go 1.26.0
