(** * Loops that count down

    In C a loop may add any number to its iterator.  [counts] is the meaning of
    such loops, with the rules of [runs]; [lowered] is the same program in LOOP,
    whose loops count up: a loop over [x] that counts down is one over [x'],
    which is [- x], with a [Let] that gives [x] its value ([lowered_counts]).
    [may_count] has the rules of [may_run] besides, for loops whose iterations
    run in any order ([lowered_may_run]). *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Formulas Symbolic Parallel.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

Inductive counted :=
| Calling (name : string) (arguments hint : list expr)
| Sequence (children : list counted)
| Choice (condition : test) (yes no : counted)
| Counting (iterator : string) (start : expr) (continue : test) (step : Z) (body : counted)
| Naming (name : string) (value : expr) (body : counted)
| Remark (text : string) (body : counted).

(** The rules of [runs], for steps of either sign. *)
Inductive counts : env -> counted -> trace -> Prop :=
| count_call e f args hint :
    counts e (Calling f args hint) [Event f (map (eval e) args) (map (eval e) hint)]
| count_nil e : counts e (Sequence []) []
| count_cons e c cs t1 t2 : counts e c t1 -> counts e (Sequence cs) t2 -> counts e (Sequence (c :: cs)) (t1 ++ t2)
| count_then e c a b t : decide e c = true -> counts e a t -> counts e (Choice c a b) t
| count_else e c a b t : decide e c = false -> counts e b t -> counts e (Choice c a b) t
| count_end e x a c s b : decide ((x, eval e a) :: e) c = false -> counts e (Counting x a c s b) []
| count_step e x a c s b t1 t2 :
    decide ((x, eval e a) :: e) c = true ->
    counts ((x, eval e a) :: e) b t1 ->
    counts e (Counting x (Int (eval e a + s)) c s b) t2 ->
    counts e (Counting x a c s b) (t1 ++ t2)
| count_let e x a b t : counts ((x, eval e a) :: e) b t -> counts e (Naming x a b) t
| count_mark e text b t : counts e b t -> counts e (Remark text b) t.

(** A program has at most one trace. *)
Theorem counts_deterministic : forall e n t1, counts e n t1 -> forall t2, counts e n t2 -> t1 = t2.
Proof. induction 1; intros u Hu; inversion Hu; subst; try congruence; eauto; f_equal; eauto. Qed.

(** The rules of [may_run]: steps of the iterations of a marked loop may be mixed. *)
Inductive may_count : env -> counted -> trace -> Prop :=
| mix_call e f args hint :
    may_count e (Calling f args hint) [Event f (map (eval e) args) (map (eval e) hint)]
| mix_nil e : may_count e (Sequence []) []
| mix_cons e c cs t1 t2 :
    may_count e c t1 -> may_count e (Sequence cs) t2 -> may_count e (Sequence (c :: cs)) (t1 ++ t2)
| mix_then e c a b t : decide e c = true -> may_count e a t -> may_count e (Choice c a b) t
| mix_else e c a b t : decide e c = false -> may_count e b t -> may_count e (Choice c a b) t
| mix_end e x a c s b : decide ((x, eval e a) :: e) c = false -> may_count e (Counting x a c s b) []
| mix_step e x a c s b t1 t2 :
    decide ((x, eval e a) :: e) c = true ->
    may_count ((x, eval e a) :: e) b t1 ->
    may_count e (Counting x (Int (eval e a + s)) c s b) t2 ->
    may_count e (Counting x a c s b) (t1 ++ t2)
| mix_let e x a b t : may_count ((x, eval e a) :: e) b t -> may_count e (Naming x a b) t
| mix_mark e text b t : may_count e b t -> may_count e (Remark text b) t
| mix_parallel_end e x a c s b :
    decide ((x, eval e a) :: e) c = false -> may_count e (Remark parallel (Counting x a c s b)) []
| mix_parallel_step e x a c s b t1 t2 t :
    decide ((x, eval e a) :: e) c = true ->
    may_count ((x, eval e a) :: e) b t1 ->
    may_count e (Remark parallel (Counting x (Int (eval e a + s)) c s b)) t2 ->
    interleaved t1 t2 t ->
    may_count e (Remark parallel (Counting x a c s b)) t.

(** The iterator that counts up. *)
Definition opposite (x : string) : string := x ++ "'".

(** [- y] in place of [x]. *)
Fixpoint turned (x y : string) (a : expr) : expr :=
  match a with
  | Int v => Int v
  | Var z => if String.eqb z x then Scaled (-1) (Var y) else Var z
  | Sum l => Sum (map (turned x y) l)
  | Scaled k b => Scaled k (turned x y b)
  | FloorDiv b d => FloorDiv (turned x y b) d
  | TruncDiv b d => TruncDiv (turned x y b) d
  | Rem b d => Rem (turned x y b) d
  | Min l => Min (map (turned x y) l)
  | Max l => Max (map (turned x y) l)
  | Select t b c => Select (turned_test x y t) (turned x y b) (turned x y c)
  end
with turned_test (x y : string) (t : test) : test :=
  match t with
  | Compare r a b => Compare r (turned x y a) (turned x y b)
  | And l => And (map (turned_test x y) l)
  | Or l => Or (map (turned_test x y) l)
  | Not u => Not (turned_test x y u)
  end.

Fixpoint lowered (n : counted) : node :=
  match n with
  | Calling f args hint => Call f args hint
  | Sequence l => Block (map lowered l)
  | Choice c a b => If c (lowered a) (lowered b)
  | Counting x a c (Z.neg s) b =>
      let y := opposite x in
      For y (Scaled (-1) a) (turned_test x y c) s (Let x (Scaled (-1) (Var y)) (lowered b))
  | Counting x a c (Z.pos s) b => For x a c s (lowered b)
  | Counting _ _ _ 0 _ => Block []
  | Naming x a b => Let x a (lowered b)
  | Remark text b => Mark text (lowered b)
  end.

(** Steps are not 0, names are bound, and the new iterators are new. *)
Fixpoint proper (names : list string) (n : counted) : bool :=
  match n with
  | Calling _ args hint => forallb (closed_expr names) args && forallb (closed_expr names) hint
  | Sequence l => forallb (proper names) l
  | Choice c a b => closed_test names c && proper names a && proper names b
  | Counting x a c s b =>
      negb (s =? 0) && negb (existsb (String.eqb (opposite x)) names) && negb (String.eqb x (opposite x)) &&
      closed_expr names a && closed_test (x :: names) c && proper (x :: names) b
  | Naming x a b => closed_expr names a && proper (x :: names) b
  | Remark _ b => proper names b
  end.

(** ** The same meaning *)

Lemma turned_eval : forall x y e,
  (forall a, eval e (turned x y a) = eval ((x, - lookup y e) :: e) a) /\
  (forall t, decide e (turned_test x y t) = decide ((x, - lookup y e) :: e) t).
Proof.
  intros x y e. set (E := (x, - lookup y e) :: e).
  pose (P := fun a => eval e (turned x y a) = eval E a).
  pose (Q := fun t => decide e (turned_test x y t) = decide E t).
  assert (Hlist : forall l, Forall P l -> map (eval e) (map (turned x y) l) = map (eval E) l).
  { induction 1 as [|a l Ha _ IH]; [reflexivity|]. cbn [map]. rewrite IH. f_equal. exact Ha. }
  assert (case_var : forall z, P (Var z)).
  { intros z. unfold P, E. cbn [turned eval lookup]. destruct (String.eqb z x); cbn [eval]; lia. }
  assert (case_and : forall l, Forall Q l -> Q (And l)).
  { intros l Hl. unfold Q. cbn [turned_test decide]. induction Hl as [|t l Ht _ IH]; [reflexivity|].
    cbn [map forallb]. rewrite IH. f_equal. exact Ht. }
  assert (case_or : forall l, Forall Q l -> Q (Or l)).
  { intros l Hl. unfold Q. cbn [turned_test decide]. induction Hl as [|t l Ht _ IH]; [reflexivity|].
    cbn [map existsb]. rewrite IH. f_equal. exact Ht. }
  split; [apply (expr_induction P Q) | apply (test_induction P Q)]; auto;
    unfold P, Q in *; intros; cbn [turned turned_test eval decide] in *; rewrite ?Hlist by assumption;
    repeat match goal with H : eval _ _ = _ |- _ => rewrite H | H : decide _ _ = _ |- _ => rewrite H end; reflexivity.
Qed.

Definition agree (names : list string) (e e' : env) : Prop :=
  forall x, existsb (String.eqb x) names = true -> lookup x e = lookup x e'.

Lemma agree_cons : forall names e e' x v, agree names e e' -> agree (x :: names) ((x, v) :: e) ((x, v) :: e').
Proof.
  intros names e e' x v H y Hy. cbn [lookup existsb] in *. destruct (String.eqb y x); [reflexivity | apply H, Hy].
Qed.

Lemma agree_eval : forall names e e', agree names e e' ->
  (forall a, closed_expr names a = true -> eval e a = eval e' a) /\
  (forall t, closed_test names t = true -> decide e t = decide e' t).
Proof.
  intros names e e' H.
  pose (P := fun a => closed_expr names a = true -> eval e a = eval e' a).
  pose (Q := fun t => closed_test names t = true -> decide e t = decide e' t).
  assert (Hlist : forall l, Forall P l -> forallb (closed_expr names) l = true -> map (eval e) l = map (eval e') l).
  { induction 1 as [|a l Ha _ IH]; intros Hl; [reflexivity|]. cbn [forallb] in Hl. apply andb_prop in Hl as [H1 H2].
    cbn [map]. f_equal; auto. }
  assert (case_and : forall l, Forall Q l -> Q (And l)).
  { intros l Hl Hc. cbn [closed_test] in Hc. cbn [decide]. induction Hl as [|t l Ht _ IH]; [reflexivity|].
    cbn [forallb] in *. apply andb_prop in Hc as [H1 H2]. rewrite (Ht H1), (IH H2). reflexivity. }
  assert (case_or : forall l, Forall Q l -> Q (Or l)).
  { intros l Hl Hc. cbn [closed_test] in Hc. cbn [decide]. induction Hl as [|t l Ht _ IH]; [reflexivity|].
    cbn [forallb existsb] in *. apply andb_prop in Hc as [H1 H2]. rewrite (Ht H1), (IH H2). reflexivity. }
  split; [apply (expr_induction P Q) | apply (test_induction P Q)]; auto;
    unfold P, Q in *; intros; cbn [closed_expr closed_test eval decide] in *;
    repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [? ?] end;
    rewrite ?Hlist by assumption; auto;
    repeat match goal with H : ?c = true -> _, H' : ?c = true |- _ => rewrite (H H') end; reflexivity.
Qed.

Section CountedInduction.
  Variable P : counted -> Prop.
  Hypothesis case_call : forall f args hint, P (Calling f args hint).
  Hypothesis case_block : forall l, Forall P l -> P (Sequence l).
  Hypothesis case_if : forall c a b, P a -> P b -> P (Choice c a b).
  Hypothesis case_for : forall x a c s b, P b -> P (Counting x a c s b).
  Hypothesis case_let : forall x a b, P b -> P (Naming x a b).
  Hypothesis case_mark : forall text b, P b -> P (Remark text b).

  Fixpoint counted_induction (n : counted) : P n :=
    match n with
    | Calling f args hint => case_call f args hint
    | Sequence l => case_block l
        ((fix all l : Forall P l :=
            match l with
            | [] => Forall_nil P
            | c :: l' => Forall_cons c (counted_induction c) (all l')
            end) l)
    | Choice c a b => case_if c a b (counted_induction a) (counted_induction b)
    | Counting x a c s b => case_for x a c s b (counted_induction b)
    | Naming x a b => case_let x a b (counted_induction b)
    | Remark text b => case_mark text b (counted_induction b)
    end.
End CountedInduction.

(** A loop of LOOP, as one that counts by [step]: what its iterator [y] stands for is given by [sense]. *)
Lemma loop_counts : forall (sense : Z -> Z) step e e' x y c c' s body b,
  (forall v, sense (v + Z.pos s) = sense v + step) ->
  (forall v, decide ((y, v) :: e') c' = decide ((x, sense v) :: e) c) ->
  (forall v t, runs ((y, v) :: e') body t -> counts ((x, sense v) :: e) b t) ->
  forall m t, runs e' m t -> forall first a, m = For y first c' s body -> eval e a = sense (eval e' first) ->
  counts e (Counting x a c step b) t.
Proof.
  intros sense step e e' x y c c' s body b Hstep Htest Hbody m t H. remember e' as E eqn:HE. revert HE.
  induction H; intros -> first start Heq Hstart; try discriminate; injection Heq; intros; subst.
  - apply count_end. rewrite Hstart, <- Htest. assumption.
  - apply count_step.
    + rewrite Hstart, <- Htest. assumption.
    + rewrite Hstart. apply Hbody. assumption.
    + eapply IHruns2; [exact Htest | exact Hbody | reflexivity | reflexivity |].
      cbn [eval]. rewrite Hstart. symmetry. apply Hstep.
Qed.

Theorem lowered_counts : forall n names e e' t, proper names n = true -> agree names e e' ->
  runs e' (lowered n) t -> counts e n t.
Proof.
  induction n as [f args hint|l IH|c a b IHa IHb|x a c s b IHb|x a b IHb|text b IHb] using counted_induction;
    intros names e e' t Hp He H; cbn [proper] in Hp.
  - apply andb_prop in Hp as [Hargs Hhint]. inversion H; subst. destruct (agree_eval names e e' He) as [Hev _].
    assert (Hlist : forall l, forallb (closed_expr names) l = true -> map (eval e') l = map (eval e) l).
    { intros l Hl. apply map_ext_in. intros a Ha. symmetry. apply Hev. rewrite forallb_forall in Hl. auto. }
    rewrite (Hlist args Hargs), (Hlist hint Hhint). constructor.
  - cbn [lowered] in H. revert t H. induction IH as [|n l Hn _ IHl]; intros t H; cbn [map] in H; inversion H; subst; [constructor|].
    cbn [forallb] in Hp. apply andb_prop in Hp as [H1 H2]. constructor; [eapply Hn; eassumption | apply IHl; assumption].
  - apply andb_prop in Hp as [Hp Hb]. apply andb_prop in Hp as [Hc Ha]. destruct (agree_eval names e e' He) as [_ Hdec].
    inversion H; subst; [apply count_then | apply count_else]; try (rewrite (Hdec c Hc); assumption);
      [eapply IHa | eapply IHb]; eassumption.
  - apply andb_prop in Hp as [Hp Hb]. apply andb_prop in Hp as [Hp Hc]. apply andb_prop in Hp as [Hp Ha].
    apply andb_prop in Hp as [Hp Hxy]. apply andb_prop in Hp as [Hs Hnew].
    pose proof (proj1 (agree_eval names e e' He) a Ha) as Hstart. destruct s as [|s|s]; [discriminate| |]; cbn [lowered] in H.
    + apply (loop_counts (fun v => v) (Z.pos s) e e' x x c c s (lowered b) b) with (m := For x a c s (lowered b)) (first := a);
        auto; intros v; [|intros t1 H1].
      * symmetry. apply (proj2 (agree_eval (x :: names) _ _ (agree_cons _ _ _ x v He))), Hc.
      * exact (IHb (x :: names) _ _ t1 Hb (agree_cons _ _ _ x v He) H1).
    + set (y := opposite x) in *. apply negb_true_iff in Hxy. apply negb_true_iff in Hnew.
      assert (Hagree : forall v, agree (x :: names) ((x, - v) :: e) ((x, - v) :: (y, v) :: e')).
      { intros v. apply agree_cons. intros z Hz. cbn [lookup]. destruct (String.eqb_spec z y) as [-> | _]; [congruence | exact (He z Hz)]. }
      refine (loop_counts Z.opp (Z.neg s) e e' x y c (turned_test x y c) s _ b _ _ _ _ t H _ a eq_refl _).
      * intros v. lia.
      * intros v. rewrite (proj2 (turned_eval x y _)). cbn [lookup]. rewrite String.eqb_refl.
        symmetry. apply (proj2 (agree_eval (x :: names) _ _ (Hagree v))), Hc.
      * intros v t1 H1. inversion H1; subst. cbn [eval lookup] in *. rewrite String.eqb_refl in *.
        match goal with H2 : runs ((x, ?w) :: _) _ _ |- _ => replace w with (- v) in H2 by lia; exact (IHb (x :: names) _ _ t1 Hb (Hagree v) H2) end.
      * cbn [eval]. lia.
  - apply andb_prop in Hp as [Ha Hb]. inversion H; subst. apply count_let.
    rewrite (proj1 (agree_eval names e e' He) a Ha). exact (IHb (x :: names) _ _ t Hb (agree_cons _ _ _ x _ He) ltac:(eassumption)).
  - inversion H; subst. apply count_mark. eapply IHb; eassumption.
Qed.

(** ** In any order *)

(** Only the value of the start matters. *)
Lemma may_run_start : forall e y a a' c s b t, eval e a = eval e a' ->
  may_run e (For y a c s b) t -> may_run e (For y a' c s b) t.
Proof.
  intros e y a a' c s b t Ha H. inversion H; subst; rewrite Ha in *; [apply may_for_end | apply may_for_step]; assumption.
Qed.

Lemma may_parallel_start : forall e y a a' c s b t, eval e a = eval e a' ->
  may_run e (Mark parallel (For y a c s b)) t -> may_run e (Mark parallel (For y a' c s b)) t.
Proof.
  intros e y a a' c s b t Ha H. inversion H; subst.
  - apply may_mark. eapply may_run_start; eassumption.
  - rewrite Ha in *. apply may_parallel_end. assumption.
  - rewrite Ha in *. eapply may_parallel_step; eassumption.
Qed.

Lemma proper_counting : forall names x a c s b, proper names (Counting x a c s b) = true ->
  s <> 0 /\ existsb (String.eqb (opposite x)) names = false /\ String.eqb x (opposite x) = false /\
  closed_expr names a = true /\ closed_test (x :: names) c = true /\ proper (x :: names) b = true.
Proof.
  intros names x a c s b H. cbn [proper] in H. repeat (apply andb_prop in H as [H ?]).
  repeat match goal with H : negb _ = true |- _ => apply negb_true_iff in H end.
  apply Z.eqb_neq in H. auto 8.
Qed.

Section Downward.
  Variables (names : list string) (e e' : env) (x : string) (c : test).
  Let y := opposite x.
  Hypothesis He : agree names e e'.
  Hypothesis Hnew : existsb (String.eqb y) names = false.
  Hypothesis Hxy : String.eqb x y = false.
  Hypothesis Hc : closed_test (x :: names) c = true.

  Lemma down_agree : forall v, agree (x :: names) ((x, v) :: e) ((x, v) :: (y, - v) :: e').
  Proof.
    intros v. apply agree_cons. intros z Hz. cbn [lookup].
    destruct (String.eqb_spec z y) as [-> | _]; [rewrite Hz in Hnew; discriminate | exact (He z Hz)].
  Qed.

  Lemma down_test : forall v, decide ((y, - v) :: e') (turned_test x y c) = decide ((x, v) :: e) c.
  Proof.
    intros v. rewrite (proj2 (turned_eval x y _)). cbn [lookup]. rewrite String.eqb_refl, Z.opp_involutive.
    symmetry. apply (proj2 (agree_eval (x :: names) _ _ (down_agree v))), Hc.
  Qed.

  Lemma down_body : forall v b t, may_run ((x, v) :: (y, - v) :: e') b t -> may_run ((y, - v) :: e') (Let x (Scaled (-1) (Var y)) b) t.
  Proof.
    intros v b t H. apply may_let. cbn [eval lookup]. rewrite String.eqb_refl. replace (-1 * - v) with v by lia. exact H.
  Qed.
End Downward.

Theorem lowered_may_run : forall e n t, may_count e n t ->
  forall names e', proper names n = true -> agree names e e' -> may_run e' (lowered n) t.
Proof.
  induction 1; intros names e' Hp He; cbn [lowered].
  - cbn [proper] in Hp. apply andb_prop in Hp as [Hargs Hhint]. destruct (agree_eval names e e' He) as [Hev _].
    assert (Hlist : forall l, forallb (closed_expr names) l = true -> map (eval e) l = map (eval e') l).
    { intros l Hl. apply map_ext_in. intros a Ha. apply Hev. rewrite forallb_forall in Hl. auto. }
    rewrite (Hlist args Hargs), (Hlist hint Hhint). constructor.
  - constructor.
  - cbn [proper forallb] in Hp. apply andb_prop in Hp as [H1 H2]. cbn [map].
    constructor; [eapply IHmay_count1 | eapply (IHmay_count2 names)]; eassumption.
  - cbn [proper] in Hp. apply andb_prop in Hp as [Hp _]. apply andb_prop in Hp as [Hc Ha].
    apply may_then; [rewrite <- (proj2 (agree_eval names e e' He) c Hc); assumption | eapply IHmay_count; eassumption].
  - cbn [proper] in Hp. apply andb_prop in Hp as [Hp Hb]. apply andb_prop in Hp as [Hc _].
    apply may_else; [rewrite <- (proj2 (agree_eval names e e' He) c Hc); assumption | eapply IHmay_count; eassumption].
  - apply proper_counting in Hp as (Hs & Hnew & Hxy & Ha & Hc & Hb). pose proof (proj1 (agree_eval names e e' He) a Ha) as Hstart.
    destruct s as [|s|s]; [congruence | |]; apply may_for_end.
    + rewrite <- Hstart, <- (proj2 (agree_eval _ _ _ (agree_cons _ _ _ x (eval e a) He)) c Hc). assumption.
    + cbn [eval]. rewrite <- Hstart. replace (-1 * eval e a) with (- eval e a) by lia. rewrite (down_test names e e'); assumption.
  - pose proof Hp as Hp'. apply proper_counting in Hp as (Hs & Hnew & Hxy & Ha & Hc & Hb).
    pose proof (proj1 (agree_eval names e e' He) a Ha) as Hstart.
    assert (Hrest : proper names (Counting x (Int (eval e a + s)) c s b) = true).
    { cbn [proper closed_expr] in *. rewrite Ha in Hp'. exact Hp'. }
    specialize (IHmay_count2 names e' Hrest He). destruct s as [|s|s]; [congruence | |]; cbn [lowered] in IHmay_count2; apply may_for_step.
    + rewrite <- Hstart, <- (proj2 (agree_eval _ _ _ (agree_cons _ _ _ x (eval e a) He)) c Hc). assumption.
    + rewrite <- Hstart. exact (IHmay_count1 (x :: names) _ Hb (agree_cons _ _ _ x _ He)).
    + rewrite <- Hstart. exact IHmay_count2.
    + cbn [eval]. rewrite <- Hstart. replace (-1 * eval e a) with (- eval e a) by lia. rewrite (down_test names e e'); assumption.
    + cbn [eval]. rewrite <- Hstart. replace (-1 * eval e a) with (- eval e a) by lia. apply down_body.
      exact (IHmay_count1 (x :: names) _ Hb (down_agree names e e' x He Hnew (eval e a))).
    + eapply may_run_start; [|exact IHmay_count2]. cbn [eval]. rewrite <- Hstart. lia.
  - cbn [proper] in Hp. apply andb_prop in Hp as [Ha Hb]. apply may_let. rewrite <- (proj1 (agree_eval names e e' He) a Ha).
    exact (IHmay_count (x :: names) _ Hb (agree_cons _ _ _ x _ He)).
  - apply may_mark. eapply IHmay_count; eassumption.
  - change (proper names (Counting x a c s b) = true) in Hp.
    apply proper_counting in Hp as (Hs & Hnew & Hxy & Ha & Hc & Hb). pose proof (proj1 (agree_eval names e e' He) a Ha) as Hstart.
    destruct s as [|s|s]; [congruence | |]; apply may_parallel_end.
    + rewrite <- Hstart, <- (proj2 (agree_eval _ _ _ (agree_cons _ _ _ x (eval e a) He)) c Hc). assumption.
    + cbn [eval]. rewrite <- Hstart. replace (-1 * eval e a) with (- eval e a) by lia. rewrite (down_test names e e'); assumption.
  - change (proper names (Counting x a c s b) = true) in Hp.
    pose proof Hp as Hp'. apply proper_counting in Hp as (Hs & Hnew & Hxy & Ha & Hc & Hb).
    pose proof (proj1 (agree_eval names e e' He) a Ha) as Hstart.
    assert (Hrest : proper names (Remark parallel (Counting x (Int (eval e a + s)) c s b)) = true).
    { cbn [proper closed_expr] in *. rewrite Ha in Hp'. exact Hp'. }
    specialize (IHmay_count2 names e' Hrest He). destruct s as [|s|s]; [congruence | |]; cbn [lowered] in IHmay_count2.
    + eapply may_parallel_step; [| | |eassumption].
      * rewrite <- Hstart, <- (proj2 (agree_eval _ _ _ (agree_cons _ _ _ x (eval e a) He)) c Hc). assumption.
      * rewrite <- Hstart. exact (IHmay_count1 (x :: names) _ Hb (agree_cons _ _ _ x _ He)).
      * rewrite <- Hstart. exact IHmay_count2.
    + eapply may_parallel_step; [| | |eassumption].
      * cbn [eval]. rewrite <- Hstart. replace (-1 * eval e a) with (- eval e a) by lia. rewrite (down_test names e e'); assumption.
      * cbn [eval]. rewrite <- Hstart. replace (-1 * eval e a) with (- eval e a) by lia. apply down_body.
        exact (IHmay_count1 (x :: names) _ Hb (down_agree names e e' x He Hnew (eval e a))).
      * eapply may_parallel_start; [|exact IHmay_count2]. cbn [eval]. rewrite <- Hstart. lia.
Qed.

(** ** In the same environment *)

Lemma counted_runs : forall names n e t, proper names n = true -> runs e (lowered n) t -> counts e n t.
Proof. intros names n e t H. apply (lowered_counts n names e e t H). intros x _. reflexivity. Qed.

Lemma counted_may_run : forall names n e t, proper names n = true -> may_count e n t -> may_run e (lowered n) t.
Proof. intros names n e t H Hn. apply (lowered_may_run _ _ _ Hn names e H). intros x _. reflexivity. Qed.
