class LinkState:
    def __init__(self, s): self.s=s
    def require_whole(self): pass
    def set(self,m): return {"lines":[]}
    def test(self,m): return {}
