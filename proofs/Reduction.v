(** * The formulas mean what they say *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Lexicographic Executed Poly Scanning Formulas.
Import ListNotations.
Open Scope Z_scope.

(** ** Conjunctions and disjunctions of lists *)

Lemma all_cons : forall P l, all (P :: l) <-> P /\ all l.
Proof. intros P [|Q l]; simpl; tauto. Qed.

Lemma any_cons : forall P l, any (P :: l) <-> P \/ any l.
Proof. intros P [|Q l]; simpl; tauto. Qed.

Lemma any_nth : forall A (f : A -> Prop) l,
  any (map f l) <-> exists k x, nth_error l k = Some x /\ f x.
Proof.
  intros A f. induction l as [|y l IH]; cbn [map].
  - split; [intros [] | intros ([|k] & x & H & _); discriminate].
  - rewrite any_cons, IH. split.
    + intros [H | (k & x & Hk & Hx)]; [exists 0%nat, y; auto | exists (S k), x; auto].
    + intros ([|k] & x & Hk & Hx); simpl in Hk; [injection Hk as ->; auto|].
      right. eauto.
Qed.

(** ** Tests *)

Section TestInduction.
  Variable P : test -> Prop.
  Hypothesis case_compare : forall r a b, P (Compare r a b).
  Hypothesis case_and : forall l, Forall P l -> P (And l).
  Hypothesis case_or : forall l, Forall P l -> P (Or l).
  Hypothesis case_not : forall t, P t -> P (Not t).

  Fixpoint test_induction (t : test) : P t :=
    let each := fix each l : Forall P l :=
      match l with
      | [] => Forall_nil P
      | u :: l' => Forall_cons u (test_induction u) (each l')
      end in
    match t with
    | Compare r a b => case_compare r a b
    | And l => case_and l (each l)
    | Or l => case_or l (each l)
    | Not u => case_not u (test_induction u)
    end.
End TestInduction.

(** A test decides its formula. *)
Theorem decide_holds : forall e t, decide e t = true <-> holds e t.
Proof.
  intros e. induction t as [r a b|l IH|l IH|t IH] using test_induction.
  - destruct r; cbn [decide compare holds]; rewrite ?negb_true_iff; lia.
  - cbn [decide holds]. induction IH as [|u l Hu _ IHl]; [cbn; tauto|].
    cbn [forallb map]. rewrite andb_true_iff, all_cons, Hu, IHl. reflexivity.
  - cbn [decide holds]. induction IH as [|u l Hu _ IHl]; [cbn; intuition discriminate|].
    cbn [existsb map]. rewrite orb_true_iff, any_cons, Hu, IHl. reflexivity.
  - cbn [decide holds]. rewrite negb_true_iff, <- IH. destruct (decide e t); intuition congruence.
Qed.

Corollary decide_fails : forall e t, decide e t = false <-> ~ holds e t.
Proof. intros e t. rewrite <- decide_holds. destruct (decide e t); intuition congruence. Qed.

(** ** Loops *)

Lemma strided_steps : forall first s v,
  strided first s v <-> exists k, 0 <= k /\ v = first + Z.pos s * k.
Proof.
  assert (general : forall first s v,
    (first <= v /\ (v - first) mod Z.pos s = 0) <-> exists k, 0 <= k /\ v = first + Z.pos s * k).
  { intros first s v. split.
    - intros [Hle Hmod]. exists ((v - first) / Z.pos s).
      pose proof (Z.div_mod (v - first) (Z.pos s) ltac:(lia)) as H. rewrite Hmod in H.
      split; [apply Z.div_pos; lia | lia].
    - intros (k & Hk & ->). split; [lia|].
      replace (first + Z.pos s * k - first) with (k * Z.pos s) by lia. apply Z.mod_mul. lia. }
  intros first [s|s|] v; [apply general | apply general |].
  cbn [strided]. split.
  - intros H. exists (v - first). lia.
  - intros (k & Hk & ->). lia.
Qed.

Lemma strided_refl : forall first s, strided first s first.
Proof. intros first s. apply strided_steps. exists 0. lia. Qed.

Lemma strided_next : forall first s v, strided first s v -> strided first s (v + Z.pos s).
Proof.
  intros first s v H. apply strided_steps in H as (k & Hk & ->). apply strided_steps.
  exists (k + 1). lia.
Qed.

Definition descending (e : env) (x : string) (first : Z) (c : test) (s : positive) : Prop :=
  forall v w, strided first s v -> strided first s w -> v <= w ->
    holds ((x, w) :: e) c -> holds ((x, v) :: e) c.

Lemma visits_regular : forall e x first c s v,
  descending e x first c s ->
  visits e x first c s v <-> strided first s v /\ holds ((x, v) :: e) c.
Proof.
  intros e x first c s v Hdown. split.
  - intros (k & Hk & -> & Hall). split; [apply strided_steps; eauto|].
    apply decide_holds, Hall. lia.
  - intros [Hv Hc]. pose proof Hv as Hv'. apply strided_steps in Hv' as (k & Hk & ->).
    exists k. split; [exact Hk | split; [reflexivity |]]. intros j Hj. apply decide_holds.
    apply (Hdown _ (first + Z.pos s * k)); [apply strided_steps; exists j; lia | exact Hv | nia | exact Hc].
Qed.

(** Regular programs end. *)
Theorem regular_runs : forall n e, regular e n -> exists t, runs e n t.
Proof.
  induction n as [f args hint|cs IH|c a b IHa IHb|x a c s b IHb|x a b IHb|text b IHb]
    using node_induction; intros e H; cbn [regular] in H.
  - eexists. constructor.
  - induction IH as [|c cs Hc _ IHcs]; [eexists; constructor|].
    cbn [map] in H. apply all_cons in H as [H1 H2].
    destruct (Hc e H1) as [t1 Ht1]. destruct (IHcs H2) as [t2 Ht2].
    eexists. constructor; eassumption.
  - destruct H as [Ha Hb]. destruct (decide e c) eqn:Hc.
    + destruct (IHa e) as [t Ht]; [apply Ha, decide_holds, Hc|]. exists t. apply run_then; auto.
    + destruct (IHb e) as [t Ht]; [apply Hb, decide_fails, Hc|]. exists t. apply run_else; auto.
  - destruct H as (_ & [last Hlast] & Hbody).
    assert (Hloop : forall k i, strided (eval e a) s (eval e i) -> last - eval e i < Z.of_nat k ->
              exists t, runs e (For x i c s b) t).
    { induction k as [|k IHk]; intros i Hi Hk.
      - exists []. apply run_for_end, decide_fails. intros Hc. apply Hlast in Hc. lia.
      - destruct (decide ((x, eval e i) :: e) c) eqn:Hc; [|exists []; apply run_for_end, Hc].
        destruct (IHb ((x, eval e i) :: e)) as [t1 Ht1].
        { apply Hbody; [exact Hi | apply decide_holds, Hc]. }
        destruct (IHk (Int (eval e i + Z.pos s))) as [t2 Ht2].
        { apply strided_next, Hi. }
        { cbn [eval]. lia. }
        eexists. apply run_for_step; eassumption. }
    apply (Hloop (Z.to_nat (last - eval e a + 1))); [apply strided_refl | lia].
  - destruct (IHb _ H) as [t Ht]. exists t. constructor. exact Ht.
  - destruct (IHb _ H) as [t Ht]. exists t. constructor. exact Ht.
Qed.

(** [reached] is the executed relation without its paths. *)
Theorem reached_executes : forall n e ev,
  regular e n -> reached e n ev <-> exists p, executes e n p ev.
Proof.
  induction n as [f args hint|cs IH|c a b IHa IHb|x a c s b IHb|x a b IHb|text b IHb]
    using node_induction; intros e ev H; cbn [regular] in H; cbn [reached].
  - split; [intros ->; exists []; constructor | intros [p Hp]; inversion Hp; reflexivity].
  - assert (Heach : forall k c, nth_error cs k = Some c ->
              reached e c ev <-> exists p, executes e c p ev).
    { induction IH as [|c cs Hc _ IHcs]; intros [|k] d Hk; try discriminate; simpl in Hk;
        cbn [map] in H; apply all_cons in H as [H1 H2].
      - injection Hk as <-. apply Hc, H1.
      - apply (IHcs H2 k d Hk). }
    rewrite any_nth. split.
    + intros (k & c & Hk & Hc). apply (Heach k c Hk) in Hc as [p Hp].
      eexists. econstructor; eassumption.
    + intros [p Hp]. inversion Hp as [|? ? k c q ? Hk Hq| | | | |]; subst.
      exists k, c. split; [exact Hk | apply (Heach k c Hk); eauto].
  - destruct H as [Ha Hb]. split.
    + intros [[Hc H] | [Hc H]].
      * apply (IHa e ev (Ha Hc)) in H as [p Hp]. exists p.
        apply exec_then; [apply decide_holds, Hc | exact Hp].
      * apply (IHb e ev (Hb Hc)) in H as [p Hp]. exists p.
        apply exec_else; [apply decide_fails, Hc | exact Hp].
    + intros [p Hp]. inversion Hp as [| |? ? ? ? ? ? Hc Hq|? ? ? ? ? ? Hc Hq| | |]; subst.
      * apply decide_holds in Hc. left. split; [exact Hc|]. apply IHa; eauto.
      * apply decide_fails in Hc. right. split; [exact Hc|]. apply IHb; eauto.
  - destruct H as (Hdown & _ & Hbody). split.
    + intros (v & Hv & Hc & H). apply (IHb _ ev (Hbody v Hv Hc)) in H as [p Hp].
      exists (v :: p). constructor; [apply visits_regular; auto | exact Hp].
    + intros [p Hp]. inversion Hp as [| | | |? ? ? ? ? ? v q ? Hv Hq| |]; subst.
      apply visits_regular in Hv as [Hv Hc]; [|exact Hdown].
      exists v. split; [exact Hv | split; [exact Hc|]]. apply IHb; eauto.
  - rewrite (IHb _ ev H). split; intros [p Hp]; exists p; [constructor; exact Hp | inversion Hp; subst; assumption].
  - rewrite (IHb _ ev H). split; intros [p Hp]; exists p; [constructor; exact Hp | inversion Hp; subst; assumption].
Qed.

(** [ordered R] speaks of all pairs of executions, the earlier one first. *)
Theorem ordered_pairs : forall R n e, regular e n -> ordered R e n ->
  forall p q a b, executes e n p a -> executes e n q b -> lex_lt p q -> R a b.
Proof.
  intros R.
  induction n as [f args hint|cs IH|c i j IHi IHj|x i c s n IHn|x i n IHn|text n IHn]
    using node_induction; intros e Hreg H p q a b Hp Hq Hlt; cbn [regular] in Hreg; cbn [ordered] in H.
  - inversion Hp; subst. inversion Hq; subst. destruct Hlt.
  - inversion Hp as [|? ? k c p' ? Hk Hc| | | | |]; subst.
    inversion Hq as [|? ? l d q' ? Hl Hd| | | | |]; subst.
    cbn [lex_lt] in Hlt. clear Hp Hq. revert k l Hk Hl Hlt.
    induction IH as [|c' cs Hc' _ IHcs]; intros k l Hk Hl Hlt; [destruct k; discriminate|].
    cbn [map] in Hreg. apply all_cons in Hreg as [Hreg1 Hreg2]. destruct H as (H1 & H2 & H3).
    destruct k as [|k]; destruct l as [|l]; simpl in Hk, Hl.
    + injection Hk as ->. injection Hl as ->.
      apply (Hc' e Hreg1 H1 p' q'); auto. destruct Hlt as [Hlt | [_ Hlt]]; [lia | exact Hlt].
    + injection Hk as ->. apply H2; [apply reached_executes; eauto|].
      apply any_nth. exists l, d. split; [exact Hl|].
      apply reached_executes; [|eauto].
      clear -Hreg2 Hl. revert l Hl. induction cs as [|c cs IH]; intros [|l] Hl; try discriminate; simpl in Hl;
        cbn [map] in Hreg2; apply all_cons in Hreg2 as [Hr1 Hr2].
      * injection Hl as ->. exact Hr1.
      * exact (IH Hr2 l Hl).
    + lia.
    + apply (IHcs Hreg2 H3 k l Hk Hl). destruct Hlt as [Hlt | [He Hlt]]; [left; lia | right; split; [lia | exact Hlt]].
  - destruct Hreg as [Hreg1 Hreg2]. destruct H as [H1 H2].
    inversion Hp as [| |? ? ? ? ? ? Hc Hp'|? ? ? ? ? ? Hc Hp'| | |]; subst;
      inversion Hq as [| |? ? ? ? ? ? Hd Hq'|? ? ? ? ? ? Hd Hq'| | |]; subst; try congruence.
    + apply decide_holds in Hc. eapply IHi; eauto.
    + apply decide_fails in Hc. eapply IHj; eauto.
  - destruct Hreg as (Hdown & _ & Hbody). destruct H as [H1 H2].
    inversion Hp as [| | | |? ? ? ? ? ? v p' ? Hv Hp'| |]; subst.
    inversion Hq as [| | | |? ? ? ? ? ? w q' ? Hw Hq'| |]; subst.
    apply visits_regular in Hv as [Hv Hcv]; [|exact Hdown].
    apply visits_regular in Hw as [Hw Hcw]; [|exact Hdown].
    destruct Hlt as [Hlt | [-> Hlt]].
    + apply (H2 v w Hv Hcv Hw Hcw Hlt); apply reached_executes; eauto.
    + eapply IHn; eauto.
  - inversion Hp; subst. inversion Hq; subst. eapply IHn; eauto.
  - inversion Hp; subst. inversion Hq; subst. eapply IHn; eauto.
Qed.

(** ** The obligations of a program, as formulas *)

(** The order of two events in a run: not twice the same, and not against the
    schedule. *)
Definition after (P : poly) (a b : event) : Prop := a <> b /\ in_time P a b.

Record obligations (P : poly) (e : env) (n : node) : Prop := {
  loops_regular : regular e n;
  covers : forall ev, scheduled P ev -> reached e n ev;
  sound : forall ev, reached e n ev -> scheduled P ev;
  keeps_order : ordered (after P) e n
}.

(** The formulas imply the four scanning obligations. *)
Theorem obligations_scan : forall P e n, obligations P e n -> scans P e n.
Proof.
  intros P e n [Hreg Hcovers Hsound Hordered].
  pose proof (ordered_pairs _ _ _ Hreg Hordered) as Hpairs.
  constructor.
  - intros ev Hev. apply reached_executes; auto.
  - intros p ev Hp. apply Hsound, reached_executes; eauto.
  - intros p q ev Hp Hq. destruct (lex_lt_total p q) as [H | [H | H]]; [|exact H|].
    + destruct (Hpairs _ _ _ _ Hp Hq H) as [Hne _]. congruence.
    + destruct (Hpairs _ _ _ _ Hq Hp H) as [Hne _]. congruence.
  - intros p q a b Hp Hq Htime Hlt. destruct (Hpairs _ _ _ _ Hq Hp Hlt) as [_ Hnot].
    exact (Hnot Htime).
Qed.

(** [a] is to run before [b]. *)
Definition sooner (P : poly) (a b : event) : Prop := lex_lt (time_of P a) (time_of P b).

(** In a program that runs all instances by strictly increasing time, no two
    have the same time. *)
Theorem times_differ : forall P e n,
  regular e n -> (forall ev, scheduled P ev -> reached e n ev) -> ordered (sooner P) e n ->
  forall a b, scheduled P a -> scheduled P b -> time_of P a = time_of P b -> a = b.
Proof.
  intros P e n Hreg Hcovers Hordered a b Ha Hb Htime.
  apply Hcovers, reached_executes in Ha as [p Hp]; [|exact Hreg].
  apply Hcovers, reached_executes in Hb as [q Hq]; [|exact Hreg].
  pose proof (ordered_pairs _ _ _ Hreg Hordered) as Hpairs.
  destruct (lex_lt_total p q) as [H | [<- | H]].
  - apply (Hpairs _ _ _ _ Hp Hq) in H. unfold sooner in H. rewrite Htime in H.
    destruct (lex_lt_irreflexive _ H).
  - exact (executes_deterministic _ _ _ _ Hp _ Hq).
  - apply (Hpairs _ _ _ _ Hq Hp) in H. unfold sooner in H. rewrite Htime in H.
    destruct (lex_lt_irreflexive _ H).
Qed.

(** ** What a file about one program proves

    For every value of the parameters: the formulas hold; therefore the
    program implements the statements. *)
Theorem program_correct : forall G n,
  closed (parameters G) n = true ->
  (forall p, context G p -> obligations (statements G p) (environment G p) n) ->
  implements G n.
Proof.
  intros G n Hclosed H. apply scanning_for_all_parameters; [exact Hclosed | |]; intros p Hp.
  - apply regular_runs. exact (loops_regular _ _ _ (H p Hp)).
  - apply obligations_scan, H, Hp.
Qed.
