(** * A program that meets the four scanning obligations runs the schedule *)

From Coq Require Import ZArith List String Sorted.
From Loopwright Require Import Loop Scope Lexicographic Executed Poly.
Import ListNotations.
Open Scope Z_scope.

(** The four obligations on the executed relation of [n] in environment [e]. *)
Record scans (P : poly) (e : env) (n : node) : Prop := {
  nothing_missing : forall ev, scheduled P ev -> exists p, executes e n p ev;
  nothing_extra : forall p ev, executes e n p ev -> scheduled P ev;
  nothing_twice : forall p q ev, executes e n p ev -> executes e n q ev -> p = q;
  order : forall p q a b,
    executes e n p a -> executes e n q b ->
    lex_lt (time_of P a) (time_of P b) -> ~ lex_lt q p
}.

Lemma sorted_events : forall (R : event -> event -> Prop) (l : list (list Z * event)),
  StronglySorted lex_lt (map fst l) ->
  (forall p q a b, In (p, a) l -> In (q, b) l -> lex_lt p q -> R a b) ->
  StronglySorted R (map snd l).
Proof.
  induction l as [|[p a] l IH]; simpl; intros Hs H; [constructor|].
  inversion Hs as [|? ? Hs' Hf]; subst. constructor.
  - apply IH; [exact Hs'|]. intros q r b c Hb Hc. apply H; auto.
  - rewrite Forall_map in *. rewrite Forall_forall in *. intros [q b] Hb. simpl.
    apply (H p q); auto. exact (Hf _ Hb).
Qed.

Lemma distinct_events : forall (l : list (list Z * event)),
  StronglySorted lex_lt (map fst l) ->
  (forall p q a, In (p, a) l -> In (q, a) l -> p = q) ->
  NoDup (map snd l).
Proof.
  induction l as [|[p a] l IH]; simpl; intros Hs H; [constructor|].
  inversion Hs as [|? ? Hs' Hf]; subst. constructor.
  - intros Hin. apply in_map_iff in Hin as ([q a'] & Heq & Hin). simpl in Heq. subst a'.
    assert (p = q) by (apply (H p q a); auto). subst q.
    rewrite Forall_forall in Hf. apply (lex_lt_irreflexive p), Hf.
    apply in_map_iff. exists (p, a). auto.
  - apply IH; [exact Hs'|]. intros q r b Hb Hc. apply (H q r b); auto.
Qed.

(** ** The scanning theorem

    If the executed relation of a program misses nothing, adds nothing,
    repeats nothing and never goes against the schedule, then the trace of the
    program is exactly the instances of the schedule, each once, sorted by
    time. *)
Theorem scanning : forall P e n t,
  scans P e n -> runs e n t -> runs_schedule P t.
Proof.
  intros P e n t [Hmissing Hextra Htwice Horder] Hrun.
  destruct (run_lists_executed _ _ _ Hrun) as (l & -> & Hsorted & Hin).
  constructor.
  - intros ev. rewrite in_map_iff. split.
    + intros ([p ev'] & Heq & Hl). simpl in Heq. subst ev'. eapply Hextra, Hin, Hl.
    + intros Hev. destruct (Hmissing ev Hev) as [p Hp].
      exists (p, ev). split; [reflexivity | apply Hin, Hp].
  - apply distinct_events; [exact Hsorted|].
    intros p q a Hp Hq. apply (Htwice p q a); apply Hin; assumption.
  - apply sorted_events; [exact Hsorted|].
    intros p q a b Hp Hq Hlt Htime.
    apply (Horder q p b a); [apply Hin; assumption | apply Hin; assumption | exact Htime | exact Hlt].
Qed.

(** The converse: the obligations are not stronger than what they are for,
    so a program that runs the schedule can be shown to do so. *)
Theorem scanning_complete : forall P e n t,
  runs e n t -> runs_schedule P t -> scans P e n.
Proof.
  intros P e n t Hrun [Hall Honce Horder].
  destruct (run_lists_executed _ _ _ Hrun) as (l & -> & Hsorted & Hin).
  assert (Hpairs : forall p q a b, executes e n p a -> executes e n q b -> lex_lt p q ->
            a <> b /\ in_time P a b).
  { clear Hall. intros p q a b Hp Hq Hlt. apply Hin in Hp. apply Hin in Hq. clear Hin Hrun.
    induction l as [|[r c] l IH]; simpl in *; [contradiction|].
    inversion Hsorted as [|? ? Hs1 Hf1]; subst. inversion Honce as [|? ? Hn Ho]; subst.
    inversion Horder as [|? ? Hs2 Hf2]; subst. rewrite Forall_forall in Hf1, Hf2.
    destruct Hp as [Hp | Hp]; destruct Hq as [Hq | Hq].
    - injection Hp as -> ->. injection Hq as -> ->. exfalso. exact (lex_lt_irreflexive _ Hlt).
    - injection Hp as -> ->. apply (in_map snd) in Hq. split; [|apply Hf2, Hq].
      intros ->. apply Hn, Hq.
    - injection Hq as -> ->. exfalso. apply (in_map fst) in Hp.
      exact (lex_lt_asymmetric _ _ Hlt (Hf1 _ Hp)).
    - apply IH; assumption. }
  constructor.
  - intros ev Hev. apply Hall, in_map_iff in Hev as ([p ev'] & Heq & Hp). simpl in Heq.
    subst ev'. exists p. apply Hin, Hp.
  - intros p ev Hp. apply Hall, in_map_iff. exists (p, ev). split; [reflexivity | apply Hin, Hp].
  - intros p q ev Hp Hq. destruct (lex_lt_total p q) as [H | [H | H]]; [|exact H|].
    + destruct (Hpairs _ _ _ _ Hp Hq H) as [Hne _]. congruence.
    + destruct (Hpairs _ _ _ _ Hq Hp H) as [Hne _]. congruence.
  - intros p q a b Hp Hq Htime Hlt. destruct (Hpairs _ _ _ _ Hq Hp Hlt) as [_ Hnot].
    exact (Hnot Htime).
Qed.

(** For every value of the parameters: a program that ends and scans the
    statements implements them. *)
Corollary scanning_for_all_parameters : forall G n,
  closed (parameters G) n = true ->
  (forall p, context G p -> exists t, runs (environment G p) n t) ->
  (forall p, context G p -> scans (statements G p) (environment G p) n) ->
  implements G n.
Proof.
  intros G n Hclosed Hends Hscans. split; [exact Hclosed|]. intros p Hp. destruct (Hends p Hp) as [t Ht]. exists t.
  split; [exact Ht|]. eapply scanning; eauto.
Qed.
