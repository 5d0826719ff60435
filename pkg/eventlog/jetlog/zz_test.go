package jetlog
import ("testing";"time";"sync";"fmt";"log/slog";"context"
"github.com/scoundrel-game/scoundrel/pkg/eventlog/eventlogtest")
func TestZZTail(t *testing.T){
 l:=provisioned(t,Config{})
 var wg sync.WaitGroup
 for i:=range 32 { wg.Go(func(){ fill(t,l,eventlogtest.Game(fmt.Sprint(i)),1000) }) }
 wg.Wait()
 for range 3 {
 at:=time.Now(); n:=0
 for _,err:=range l.Tail(t.Context(),epoch.Stream(),1){ if err!=nil{t.Fatal(err)}; if n++; n==32000{break} }
 t.Log(n, time.Since(at), float64(n)/time.Since(at).Seconds())
 }
 for range 5 {
 at:=time.Now()
 e,err:=StartEmbedded(context.Background(),EmbeddedConfig{Dir:t.TempDir(),Logger:slog.New(slog.DiscardHandler)})
 if err!=nil{t.Fatal(err)}
 a:=time.Since(at); at=time.Now()
 l2,_:=New(e.Conn(),Config{}); if err:=l2.Provision(t.Context(),epoch);err!=nil{t.Fatal(err)}
 p:=time.Since(at); at=time.Now()
 if err:=e.Close(context.Background());err!=nil{t.Fatal(err)}
 t.Log("start",a,"provision",p,"close",time.Since(at))
 }
}
