(** * Loops that count down

    In C a loop may add any number to its iterator.  [counts] is the meaning of
    such loops, with the rules of [runs]; [lowered] is the same program in LOOP,
    whose loops count up: a loop over [x] that counts down is one over [x'],
    which is [- x], with a [Let] that gives [x] its value
    ([lowered_counts]). *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Poly Formulas Memory Transformation Parallel Private.
From Loopwright Require Import Linear Symbolic Specification Checker Changes Temporaries Reused.
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

(** ** Checks of transformations whose original is a text

    Each is the check of [lowered n], with the theorem about it; the trace that
    this is about is that of [n]. *)

Definition runs_as_text (e : env) (n : counted) : Prop := forall t, runs e (lowered n) t -> counts e n t.

Lemma proper_runs : forall names n, proper names n = true -> forall e, runs_as_text e n.
Proof. intros names n H e t. apply (lowered_counts n names e e t H). intros x _. reflexivity. Qed.

Definition check_text_change (T : change) (n : counted) (n' : node) (how how' : proposal) (cs : list certificate) : bool :=
  proper (sizes (original T)) n && check_change T (lowered n) n' how how' cs.

Definition check_text_private (T : change) (S : storage) (n : counted) (n' : node) (how how' : proposal) (cs : list certificate)
    : bool :=
  proper (sizes (original T)) n && check_private T S (lowered n) n' how how' cs.

Definition check_text_reused (T : change) (S : storage) (n : counted) (n' : node) (how how' : proposal) (cs : list certificate)
    : bool :=
  proper (sizes (original T)) n && check_reused T S (lowered n) n' how how' cs.

Theorem text_same_memory : forall T n n' how how' cs, check_text_change T n n' how how' cs = true ->
  forall p, context (meant (original T)) p -> let e := environment (meant (original T)) p in
  runs_as_text e n /\ compute_the_same_in_any_order (stated T e) e (lowered n) n'.
Proof.
  intros T n n' how how' cs H p Hp e. apply andb_prop in H as [Hn H]. split; [exact (proper_runs _ _ Hn e)|].
  exact (check_same_memory _ _ _ _ _ _ H p Hp).
Qed.

Theorem text_same_privately : forall T S n n' how how' cs, check_text_private T S n n' how how' cs = true ->
  forall p, context (meant (original T)) p -> let e := environment (meant (original T)) p in
  runs_as_text e n /\ compute_the_same_privately (stated T e) (is_temporary S) (tag_of T S e) e (lowered n) n'.
Proof.
  intros T S n n' how how' cs H p Hp e. apply andb_prop in H as [Hn H]. split; [exact (proper_runs _ _ Hn e)|].
  exact (check_same_privately _ _ _ _ _ _ _ H p Hp).
Qed.

Theorem text_same_but : forall T S n n' how how' cs, check_text_reused T S n n' how how' cs = true ->
  forall p, context (meant (original T)) p -> let e := environment (meant (original T)) p in
  runs_as_text e n /\ compute_the_same_but (stated T e) (is_temporary S) e (lowered n) n'.
Proof.
  intros T S n n' how how' cs H p Hp e. apply andb_prop in H as [Hn H]. split; [exact (proper_runs _ _ Hn e)|].
  exact (check_same_but _ _ _ _ _ _ _ H p Hp).
Qed.
