# Writes the TorchScript programs with control flow and writes that TestRoundTripControl exports.
import torch
import torch.nn as nn

class IfM(nn.Module):
    def forward(self,x):
        if x.sum()>0: y=x*2
        else: y=x-1
        return y.relu()
class IfShape(nn.Module):
    def forward(self,x):
        if x.size(0)>3: return x.sum(0)
        return x.mean(0)
class LoopM(nn.Module):
    def forward(self,x,n:torch.Tensor):
        y=x
        for i in range(int(n)):
            y=y*1.5+float(i)
        return y
class WhileM(nn.Module):
    def forward(self,x):
        i=0
        while x.sum()<100:
            x=x*2+1
            i+=1
        return x,i
class LoopT(nn.Module):
    def __init__(s): super().__init__(); s.c=nn.GRUCell(3,4)
    def forward(self,x):
        h=torch.zeros(x.size(1),4)
        outs=[]
        for t in range(x.size(0)):
            h=self.c(x[t],h)
            outs.append(h)
        return torch.stack(outs),h
class InPlace(nn.Module):
    def forward(self,x):
        y=x.clone()
        y[0]=5
        y[:,1]+=x[:,0]
        y[:,2:4]*=2
        z=y.view(-1)
        z[3]=-1
        if x.sum()>0: y.add_(1)
        return y,z
class InLoop(nn.Module):
    def forward(self,x):
        y=torch.zeros_like(x)
        for i in range(x.size(0)):
            y[i]=x[i]*i
        return y
class Brk(nn.Module):
    def forward(self,x):
        s=torch.zeros([])
        for i in range(x.size(0)):
            v=x[i].sum()
            if bool(v<0): break
            s=s+v
        return s
class Nested(nn.Module):
    def forward(self,x):
        y=x
        for i in range(x.size(0)):
            for j in range(x.size(1)):
                if bool(x[i,j]>0): y=y+x[i,j]
                else: y=y-i
        return y
class Early(nn.Module):
    def forward(self,x):
        if bool(x[0,0]>0):
            return x+1
        if bool(x[0,1]>0):
            return x*3
        return x-1
class Mask(nn.Module):
    def forward(self,x):
        m=x>0
        nz=m.nonzero()
        return x[m], nz, x.masked_select(m).sum(), x.index_put((m,),torch.tensor(0.5))
class Dyn(nn.Module):
    def forward(self,x):
        b,c=x.shape[0],x.shape[1]
        y=x.reshape(b,2,c//2).transpose(1,2).flatten(1)
        z=torch.arange(b).unsqueeze(1)+torch.zeros(b,c)
        w=torch.cat([y,z],1)[:, :c+1]
        p=torch.nn.functional.pad(w,[1,b])
        return p, x.expand(3,b,c).mean(), torch.full([b],float(c)), x.repeat(b,1)
cases={
 'if':(IfM(),(torch.randn(2,3),),{'x':{0:'n'}}),'ifshape':(IfShape(),(torch.randn(2,3),),{'x':{0:'n'}}),
 'loop':(LoopM(),(torch.randn(2,3),torch.tensor(4)),{}),'while':(WhileM(),(torch.randn(2,3).abs(),),{}),
 'loopt':(LoopT(),(torch.randn(5,2,3),),{'x':{0:'t',1:'b'}}),'loopt_static':(LoopT(),(torch.randn(5,2,3),),{}),
 'inplace':(InPlace(),(torch.randn(3,5),),{'x':{0:'n'}}),'inloop':(InLoop(),(torch.randn(4,3),),{'x':{0:'n'}}),
 'brk':(Brk(),(torch.randn(4,3).abs(),),{'x':{0:'n'}}),'nested':(Nested(),(torch.randn(3,2),),{'x':{0:'n',1:'m'}}),
 'early':(Early(),(torch.randn(3,2),),{'x':{0:'n'}}),'mask':(Mask(),(torch.randn(3,4),),{'x':{0:'n'}}),
 'dyn':(Dyn(),(torch.randn(3,4),),{'x':{0:'n'}}),
}

for name, (m, args, dynamic) in cases.items():
    torch.manual_seed(0)
    torch.jit.script(m.eval()).save(f'{name}.pt')
