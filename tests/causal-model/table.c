#include "sim.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct err { double sum, bias, max, all[200000]; int n; };
static struct err fam[FAMILIES], tot;
static void note(struct err*e,double x){ e->sum+=fabs(x); e->bias+=x; if(fabs(x)>e->max)e->max=fabs(x); e->all[e->n++]=fabs(x);}
static int cmp(const void*a,const void*b){double x=*(const double*)a-*(const double*)b;return x<0?-1:x>0;}
static double per_item(struct sim*sim,int64_t dur,int how,int64_t *hits){
	sim_run(sim,60*MS); sim_measure(sim);
	uint64_t o=sim->owed_ns, mx=0; int64_t t=sim->now;
	for(int i=0;i<sim->program->threads;i++) if(sim->thread[i].account.taken_ns>mx) mx=sim->thread[i].account.taken_ns;
	if(mx<o)mx=o;
	sim_run(sim,t+dur);
	uint64_t mx2=0;
	for(int i=0;i<sim->program->threads;i++) if(sim->thread[i].account.taken_ns>mx2) mx2=sim->thread[i].account.taken_ns;
	if(mx2<sim->owed_ns)mx2=sim->owed_ns;
	if(hits)*hits=sim->counts.hits;
	if(how==0) return (sim->last_visit_ns-sim->first_visit_ns)/(double)(sim->counts.items-1);
	if(how==1) return ((double)dur-(double)(sim->owed_ns-o))/(double)sim->counts.items;
	return ((double)dur-(double)(mx2-mx))/(double)sim->counts.items;
}
int main(int c,char**v){
	struct options o={.rule=RULE_CLOCK,.pause=PAUSE_SPIN,.weight=WEIGHT_CPU_TIME,.period_ns=1000*US,.slack_periods=3,.debt_min_ns=20*US,.lost_permille=20};
	int count=10,how=0,verbose=0; int only=-1; double dur=2000;
	for(int i=1;i<c;i++){ char*a=v[i];
#define O(n,e) else if(!strncmp(a,n"=",sizeof n)) { const char*x=a+sizeof n; e; }
		if(0){} O("rule",o.rule=atoi(x)) O("pause",o.pause=atoi(x)) O("weight",o.weight=atoi(x)) O("period",o.period_ns=atoi(x)*US) O("slack",o.slack_periods=atoi(x)) O("min",o.debt_min_ns=atoi(x)*US) O("lost",o.lost_permille=atoi(x)) O("thread",o.per_thread=atoi(x)) O("strat",o.stratified=atoi(x)) O("prompt",o.prompt=atoi(x)) O("switch",o.at_switch=atoi(x)) O("cpu",o.cpu_edge=atoi(x)) O("handler",o.from_handler=atoi(x)) O("n",count=atoi(x)) O("how",how=atoi(x)) O("v",verbose=atoi(x)) O("only",only=atoi(x)) O("whole",o.whole_pause=atoi(x)) O("dur",dur=atof(x))
		else {puts(a);return 1;}
	}
	static struct program p; static struct sim sim;
	for(int f=0;f<FAMILIES;f++) for(int k=1;k<=count;k++){
		if(only>=0&&f!=only)continue;
		program_make(&p,f,k);
		sim_init(&sim,&p,&o); double base=per_item(&sim,(int64_t)(dur*MS),1,0);
		for(int l=0;l<p.lines;l++) for(int s=500;s<=1000;s+=500){
			sim_init(&sim,&p,&o); sim.shrunk_line=l; sim.shrink=1-s/1000.0; double truth=1-per_item(&sim,(int64_t)(dur*MS),1,0)/base;
			sim_init(&sim,&p,&o); sim_experiment(&sim,l,s); int64_t h; double got=1-per_item(&sim,(int64_t)(dur*MS),how,&h)/base;
			double e=100*(got-truth);
			note(&fam[f],e); if(!p.paced && strncmp(p.family,"crowd",5)) note(&tot,e);
			if(verbose&&fabs(e)>=verbose) printf("  %s %d thr %d line %d s %d: truth %.1f got %.1f hits %ld base %.0f us\n",p.family,k,p.threads,l,s,100*truth,100*got,(long)h,base/1e3);
		}
	}
	qsort(tot.all,tot.n,sizeof(double),cmp);
	printf("mean %5.2f p90 %5.2f max %5.1f bias %+5.2f n %d |",tot.sum/tot.n,tot.all[(int)(.9*tot.n)],tot.max,tot.bias/tot.n,tot.n);
	for(int f=0;f<FAMILIES;f++) if(fam[f].n) printf(" %s %.1f(%+.1f)",program_family(f),fam[f].sum/fam[f].n,fam[f].bias/fam[f].n);
	puts("");
}
