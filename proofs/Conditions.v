(** * The conditions under which a program runs its specification

    One walk down the program, its iterators symbolic, collects goals: lists of
    facts that must have no common solution ([Linear.v]).  A guide, which
    follows the tree, says what is to be shown of the order: how the time goes
    on in a loop, or which times lie between the children of a block.  It is a
    proposal like a certificate: whatever it says, [walk_sound] holds. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Lexicographic Poly Formulas Reduction Linear Symbolic Specification.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

Definition goal := list fact.

Definition refuted (g : goal) : Prop := forall v, ~ Forall (true_at v) g.

(** The answer where a guide does not fit: a goal without facts has solutions. *)
Definition unfit : list goal := [[]].

Lemma unfit_false : ~ Forall refuted unfit.
Proof. intros H. inversion H as [|? ? H1 _]; subst. apply (H1 []). constructor. Qed.

(** The goal to exclude a fact in a state. *)
Definition exclude (f : fact) (s : state) : goal := push f (facts s).

Lemma refuted_state : forall v f s, refuted (exclude f s) -> models v s -> ~ true_at v f.
Proof. intros v f s H [_ _ Hf] Ht. apply (H v). apply push_true; assumption. Qed.

(** ** Vectors *)

(** [a] is smaller than [b] at a place that both have. *)
Fixpoint strictly (a b : list Z) : Prop :=
  match a, b with
  | x :: a', y :: b' => x < y \/ (x = y /\ strictly a' b')
  | _, _ => False
  end.

Lemma strictly_trans : forall a b c, strictly a b -> strictly b c -> strictly a c.
Proof.
  induction a as [|x a IH]; intros [|y b] [|z c]; cbn [strictly]; try tauto.
  intros [H1 | [-> H1]] [H2 | [-> H2]]; [left; lia | left; lia | left; lia | right; eauto].
Qed.

Lemma strictly_before : forall common a b t u, strictly a b ->
  starts_with (common ++ a) t -> starts_with (common ++ b) u -> lex_lt t u.
Proof.
  induction common as [|z common IH].
  - induction a as [|x a IHa]; intros [|y b] [|v t] [|w u]; cbn [strictly app starts_with lex_lt]; try tauto.
    intros [H | [-> H]] [-> Ht] [-> Hu]; [left; lia | right; eauto].
  - intros a b [|v t] [|w u]; cbn [app starts_with lex_lt]; try tauto. intros H [-> Ht] [-> Hu]. right. eauto.
Qed.

Lemma strictly_dec : forall a b, strictly a b \/ ~ strictly a b.
Proof.
  induction a as [|x a IH]; intros [|y b]; cbn [strictly]; try tauto.
  destruct (Z.lt_trichotomy x y) as [H | [-> | H]]; [tauto | destruct (IH b); intuition lia | right; lia].
Qed.

Lemma lex_lt_dec : forall a b, lex_lt a b \/ ~ lex_lt a b.
Proof.
  intros a b. destruct (lex_lt_total a b) as [H | [-> | H]]; [auto | right; apply lex_lt_irreflexive |].
  right. apply lex_lt_asymmetric, H.
Qed.

Lemma starts_with_dec : forall a t, starts_with a t \/ ~ starts_with a t.
Proof.
  induction a as [|x a IH]; intros [|y t]; cbn [starts_with]; try tauto.
  destruct (Z.eq_dec x y); [destruct (IH t) | ]; tauto.
Qed.

Lemma starts_with_front : forall a b t, starts_with (a ++ b) t -> starts_with a t.
Proof. induction a as [|x a IH]; intros b [|y t]; simpl; auto. intros [H1 H2]. eauto. Qed.

(** [a] is not [strictly] before [b]. *)
Fixpoint not_strictly (a b : list lin) : fact :=
  match a, b with
  | x :: a', y :: b' => either [less y x; both [zero (minus x y); not_strictly a' b']]
  | _, _ => always
  end.

Fixpoint earlier (a b : list lin) : fact :=
  match a, b with
  | _, [] => never
  | [], _ :: _ => always
  | x :: a', y :: b' => either [less x y; both [zero (minus x y); earlier a' b']]
  end.

Fixpoint not_earlier (a b : list lin) : fact :=
  match a, b with
  | _, [] => always
  | [], _ :: _ => never
  | x :: a', y :: b' => either [less y x; both [zero (minus x y); not_earlier a' b']]
  end.

Fixpoint not_starting (a t : list lin) : fact :=
  match a, t with
  | [], _ => never
  | _ :: _, [] => always
  | x :: a', y :: t' => either [differ x y; not_starting a' t']
  end.

Lemma not_strictly_true : forall v a b x y, denote_all v a x -> denote_all v b y ->
  ~ strictly x y -> true_at v (not_strictly a b).
Proof.
  intros v a b x y Ha. revert b y. induction Ha as [|l p a x Hl _ IH]; intros b y Hb H; [exact I|].
  destruct Hb as [|m q b y Hm Hb]; [exact I|]. cbn [not_strictly strictly] in *. apply either_true.
  destruct (Z.lt_trichotomy p q) as [Hlt | [Heq | Hlt]]; [tauto | right; left | left; exact (less_true _ _ _ _ _ Hm Hl Hlt)].
  apply both_true. constructor; [exact (equal_true _ _ _ _ _ Hl Hm Heq)|]. constructor; [|constructor].
  apply (IH b y Hb). tauto.
Qed.

Lemma earlier_true : forall v a b x y, denote_all v a x -> denote_all v b y ->
  lex_lt x y -> true_at v (earlier a b).
Proof.
  intros v a b x y Ha. revert b y. induction Ha as [|l p a x Hl _ IH]; intros b y Hb H;
    destruct Hb as [|m q b y Hm Hb]; cbn [earlier lex_lt] in *; try contradiction; [exact I|].
  apply either_true. destruct H as [Hlt | [Heq H]]; [left; exact (less_true _ _ _ _ _ Hl Hm Hlt) | right; left].
  apply both_true. constructor; [exact (equal_true _ _ _ _ _ Hl Hm Heq)|]. constructor; [|constructor].
  exact (IH b y Hb H).
Qed.

Lemma not_earlier_true : forall v a b x y, denote_all v a x -> denote_all v b y ->
  ~ lex_lt x y -> true_at v (not_earlier a b).
Proof.
  intros v a b x y Ha. revert b y. induction Ha as [|l p a x Hl _ IH]; intros b y Hb H;
    destruct Hb as [|m q b y Hm Hb]; cbn [not_earlier lex_lt] in *; try exact I; [tauto|].
  apply either_true.
  destruct (Z.lt_trichotomy p q) as [Hlt | [Heq | Hlt]]; [tauto | right; left | left; exact (less_true _ _ _ _ _ Hm Hl Hlt)].
  apply both_true. constructor; [exact (equal_true _ _ _ _ _ Hl Hm Heq)|]. constructor; [|constructor].
  apply (IH b y Hb). tauto.
Qed.

Lemma not_starting_true : forall v a t x y, denote_all v a x -> denote_all v t y ->
  ~ starts_with x y -> true_at v (not_starting a t).
Proof.
  intros v a t x y Ha. revert t y. induction Ha as [|l p a x Hl _ IH]; intros t y Ht H; [destruct H; exact I|].
  destruct Ht as [|m q t y Hm Ht]; [exact I|]. cbn [not_starting starts_with] in *. apply either_true.
  destruct (Z.eq_dec p q) as [Heq | Hne]; [right; left | left; exact (differ_true _ _ _ _ _ Hl Hm Hne)].
  apply (IH t y Ht). tauto.
Qed.

Lemma denote_all_app : forall v a b x y, denote_all v a x -> denote_all v b y -> denote_all v (a ++ b) (x ++ y).
Proof. intros. apply Forall2_app; assumption. Qed.

(** ** Bounds on times *)

Inductive bound := From (t : list lin) | Until (t : list lin).

Definition violated (t : list lin) (b : bound) : fact :=
  match b with
  | From l => earlier t l
  | Until l => not_earlier t l
  end.

(** The values of a bound, and what it asks of a time. *)
Definition bound_value (v : list Z) (b : bound) (z : bool * list Z) : Prop :=
  match b with
  | From l => fst z = true /\ denote_all v l (snd z)
  | Until l => fst z = false /\ denote_all v l (snd z)
  end.

Definition kept (t : list Z) (z : bool * list Z) : Prop :=
  if fst z then ~ lex_lt t (snd z) else lex_lt t (snd z).

Lemma violated_true : forall v t b x z, denote_all v t x -> bound_value v b z -> ~ kept x z -> true_at v (violated t b).
Proof.
  intros v t b x [up z] Ht Hb H. unfold kept in H. destruct b as [l|l]; destruct Hb as [Hup Hz];
    cbn [fst snd] in *; subst up.
  - apply (earlier_true _ _ _ _ _ Ht Hz). destruct (lex_lt_dec x z); tauto.
  - exact (not_earlier_true _ _ _ _ _ Ht Hz H).
Qed.

Lemma kept_dec : forall t z, kept t z \/ ~ kept t z.
Proof. intros t [[] z]; unfold kept; cbn [fst snd]; destruct (lex_lt_dec t z); tauto. Qed.

Lemma bounds_more : forall v w bs zs, Forall2 (bound_value v) bs zs -> Forall2 (bound_value (v ++ w)) bs zs.
Proof.
  intros v w bs zs. induction 1 as [|b z bs zs Hb _ IH]; constructor; [|exact IH].
  destruct b; destruct Hb; split; auto; apply denote_all_more; assumption.
Qed.

(** ** Loops *)

(** Of tests of the usual form, [x <= a] with [a] not about [x], it is seen that
    they hold up to some value and not after it. *)
Fixpoint mentions (x : string) (a : expr) : bool :=
  match a with
  | Int _ => false
  | Var y => String.eqb x y
  | Sum l | Min l | Max l => existsb (mentions x) l
  | Scaled _ b | FloorDiv b _ | TruncDiv b _ | Rem b _ => mentions x b
  | Select t b c => test_mentions x t || mentions x b || mentions x c
  end
with test_mentions (x : string) (t : test) : bool :=
  match t with
  | Compare _ a b => mentions x a || mentions x b
  | And l | Or l => existsb (test_mentions x) l
  | Not u => test_mentions x u
  end.

Definition is_name (x : string) (a : expr) : bool :=
  match a with Var y => String.eqb x y | _ => false end.

Fixpoint falls (x : string) (t : test) : bool :=
  match t with
  | Compare LE a b | Compare LT a b => is_name x a && negb (mentions x b)
  | Compare GE b a | Compare GT b a => is_name x a && negb (mentions x b)
  | And l => forallb (fun t => falls x t || negb (test_mentions x t)) l && existsb (falls x) l
  | Or l => forallb (falls x) l
  | _ => false
  end.

Lemma existsb_cons_false : forall A (f : A -> bool) a l, existsb f (a :: l) = false -> f a = false /\ existsb f l = false.
Proof. intros A f a l H. cbn [existsb] in H. apply orb_false_iff in H. exact H. Qed.

Lemma not_mentioned : forall x e v w,
  (forall a, mentions x a = false -> eval ((x, v) :: e) a = eval ((x, w) :: e) a) /\
  (forall t, test_mentions x t = false -> decide ((x, v) :: e) t = decide ((x, w) :: e) t).
Proof.
  intros x e v w.
  pose (P := fun a => mentions x a = false -> eval ((x, v) :: e) a = eval ((x, w) :: e) a).
  pose (Q := fun t => test_mentions x t = false -> decide ((x, v) :: e) t = decide ((x, w) :: e) t).
  assert (Hlist : forall l, Forall P l -> existsb (mentions x) l = false ->
            map (eval ((x, v) :: e)) l = map (eval ((x, w) :: e)) l).
  { induction 1 as [|a l Ha _ IH]; intros H; [reflexivity|]. apply existsb_cons_false in H as [H1 H2].
    cbn [map]. f_equal; auto. }
  assert (case_var : forall y, P (Var y)).
  { intros y H. cbn [mentions] in H. cbn [eval lookup]. rewrite String.eqb_sym, H. reflexivity. }
  assert (case_select : forall t a b, Q t -> P a -> P b -> P (Select t a b)).
  { intros t a b Ht Ha Hb H. cbn [mentions] in H. apply orb_false_iff in H as [H H3].
    apply orb_false_iff in H as [H1 H2]. cbn [eval]. rewrite (Ht H1), (Ha H2), (Hb H3). reflexivity. }
  assert (case_compare : forall r a b, P a -> P b -> Q (Compare r a b)).
  { intros r a b Ha Hb H. cbn [test_mentions] in H. apply orb_false_iff in H as [H1 H2].
    cbn [decide]. rewrite (Ha H1), (Hb H2). reflexivity. }
  assert (case_and : forall l, Forall Q l -> Q (And l)).
  { intros l Hl H. cbn [test_mentions] in H. cbn [decide]. induction Hl as [|t l Ht _ IH]; [reflexivity|].
    apply existsb_cons_false in H as [H1 H2]. cbn [forallb]. rewrite (Ht H1), (IH H2). reflexivity. }
  assert (case_or : forall l, Forall Q l -> Q (Or l)).
  { intros l Hl H. cbn [test_mentions] in H. cbn [decide]. induction Hl as [|t l Ht _ IH]; [reflexivity|].
    apply existsb_cons_false in H as [H1 H2]. cbn [existsb]. rewrite (Ht H1), (IH H2). reflexivity. }
  split; [apply (expr_induction P Q) | apply (test_induction P Q)]; auto;
    unfold P, Q; intros; cbn [mentions test_mentions eval decide] in *;
    rewrite ?H0 by assumption; try reflexivity; try (rewrite Hlist by assumption; reflexivity);
    try (rewrite H by assumption; reflexivity).
Qed.

Definition regular_test (e : env) (x : string) (t : test) : Prop :=
  (forall v w, v <= w -> decide ((x, w) :: e) t = true -> decide ((x, v) :: e) t = true) /\
  (exists last, forall v, decide ((x, v) :: e) t = true -> v <= last).

Lemma is_name_eval : forall x a e v, is_name x a = true -> eval ((x, v) :: e) a = v.
Proof.
  intros x a e v H. destruct a; try discriminate. cbn [is_name] in H. apply String.eqb_eq in H. subst.
  cbn [eval lookup]. rewrite String.eqb_refl. reflexivity.
Qed.

Lemma falls_regular : forall x e t, falls x t = true -> regular_test e x t.
Proof.
  intros x e.
  assert (Hside : forall a b, is_name x a && negb (mentions x b) = true -> exists z, forall v,
            eval ((x, v) :: e) a = v /\ eval ((x, v) :: e) b = z).
  { intros a b H. apply andb_prop in H as [Ha Hb]. apply negb_true_iff in Hb. exists (eval ((x, 0) :: e) b).
    intros v. split; [apply is_name_eval, Ha|]. apply (proj1 (not_mentioned x e v 0)), Hb. }
  assert (case_compare : forall r a b, falls x (Compare r a b) = true -> regular_test e x (Compare r a b)).
  { intros r a b H. unfold regular_test. cbn [decide]. destruct r; cbn [falls] in H; try discriminate;
      apply Hside in H as [z Hz]; cbn [compare].
    - split; [intros v w Hle|exists z; intros v]; rewrite ?(proj1 (Hz _)), ?(proj2 (Hz _)); lia.
    - split; [intros v w Hle|exists z; intros v]; rewrite ?(proj1 (Hz _)), ?(proj2 (Hz _)); lia.
    - split; [intros v w Hle|exists z; intros v]; rewrite ?(proj1 (Hz _)), ?(proj2 (Hz _)); lia.
    - split; [intros v w Hle|exists z; intros v]; rewrite ?(proj1 (Hz _)), ?(proj2 (Hz _)); lia. }
  apply (test_induction (fun _ => True) (fun t => falls x t = true -> regular_test e x t)); auto.
  - intros l Hl H. cbn [falls] in H. apply andb_prop in H as [Hall Hsome]. unfold regular_test. cbn [decide]. split.
    + intros v w Hle Hw. rewrite forallb_forall in *. intros t Ht. specialize (Hall t Ht). specialize (Hw t Ht).
      rewrite Forall_forall in Hl. apply orb_prop in Hall as [Hf | Hm].
      * exact (proj1 (Hl t Ht Hf) v w Hle Hw).
      * apply negb_true_iff in Hm. rewrite (proj2 (not_mentioned x e v w) t Hm). exact Hw.
    + apply existsb_exists in Hsome as (t & Ht & Hf). rewrite Forall_forall in Hl.
      destruct (Hl t Ht Hf) as [_ [last Hlast]]. exists last. intros v Hv. rewrite forallb_forall in Hv. auto.
  - intros l Hl H. cbn [falls] in H. unfold regular_test. cbn [decide]. split.
    + intros v w Hle Hw. rewrite existsb_exists in *. destruct Hw as (t & Ht & Hw). exists t. split; [exact Ht|].
      rewrite forallb_forall in H. rewrite Forall_forall in Hl. exact (proj1 (Hl t Ht (H t Ht)) v w Hle Hw).
    + induction Hl as [|t l Ht _ IH]; [exists 0; discriminate|]. cbn [forallb] in H. apply andb_prop in H as [H1 H2].
      destruct (IH H2) as [last1 Hl1]. destruct (Ht H1) as [_ [last2 Hl2]]. exists (Z.max last1 last2).
      intros v Hv. cbn [existsb] in Hv. apply orb_prop in Hv as [Hv | Hv]; [apply Hl2 in Hv | apply Hl1 in Hv]; lia.
  - discriminate.
Qed.

(** The iterator [x] is the start [a] or a whole number of steps after it. *)
Definition stride (c : scope) (a : expr) (x : lin) (d : positive) (s : state) : state :=
  if Pos.eqb d 1 then let (f, s1) := start_below true c x a s in assume f s1
  else let (first, s1) := linear c a s in
       let (k, s2) := fresh s1 in
       assume (both [above k; zero (minus (minus x first) (times (Z.pos d) k))]) s2.

Lemma stride_models : forall c e v s x d a z, models v s -> agrees e c v -> denotes v x z ->
  strided (eval e a) d z -> exists w, models (v ++ w) (stride c a x d s).
Proof.
  intros c e v s x d a z Hm Hc Hz H. unfold stride. destruct (Pos.eqb_spec d 1) as [-> | Hd].
  - destruct (start_below true c x a s) as [f s1] eqn:E.
    destruct (start_below_models _ _ _ _ _ _ _ _ _ _ E Hc Hm Hz) as (w & Hm1 & Hf). exists w.
    apply assume_models; [exact Hm1|]. apply Hf. cbn [strided] in H. lia.
  - apply strided_steps in H as (k & Hk & Heq). destruct (linear c a s) as [first s1] eqn:E.
    destruct (linear_models _ _ _ _ _ _ _ E Hc Hm) as (w & Hm1 & Ha).
    destruct (fresh s1) as [l s2] eqn:Hf.
    destruct (fresh_models _ _ k _ _ Hf Hm1) as [Hm2 Hl]. exists (w ++ [k]). rewrite app_assoc.
    apply assume_models; [exact Hm2|].
    apply both_true. constructor; [exact (denotes_above _ _ _ Hl Hk)|]. constructor; [|constructor].
    refine (denotes_zero _ _ _ (denotes_minus _ _ _ _ _
      (denotes_minus _ _ _ _ _ (denotes_more _ _ _ _ (denotes_more _ _ _ _ Hz)) (denotes_more _ _ _ _ Ha))
      (denotes_times _ _ _ _ Hl)) _). lia.
Qed.

(** Goals for a loop's test that is not of the usual form: where it holds it
    holds at all earlier values, and nowhere after [last]. *)
Definition ending (c : scope) (x : string) (first : expr) (t : test) (d : positive) (last : option expr) (s : state)
    : list goal :=
  match last with
  | None => if falls x t then [] else unfit
  | Some a =>
      let (v, s1) := fresh s in let (w, s2) := fresh s1 in
      let s3 := assume (at_most v w) (stride c first w d (stride c first v d s2)) in
      let (f, s4) := known ((x, w) :: c) true t s3 in
      let (g, s5) := known ((x, v) :: c) false t (assume f s4) in
      let (f', s4') := known ((x, v) :: c) true t s1 in
      let (l, s5') := linear c a s4' in
      [exclude g s5; exclude (less l v) (assume f' s5')]
  end.

Lemma ending_sound : forall c e x first t d last s v,
  Forall refuted (ending c x first t d last s) -> agrees e c v -> models v s ->
  (forall y z, strided (eval e first) d y -> strided (eval e first) d z -> y <= z -> holds ((x, z) :: e) t -> holds ((x, y) :: e) t) /\
  (exists limit, forall y, holds ((x, y) :: e) t -> y <= limit).
Proof.
  intros c e x first t d [last|] s v H Hc Hm; cbn [ending] in H.
  2: { destruct (falls x t) eqn:Hf; [|destruct (unfit_false H)].
       destruct (falls_regular x e t Hf) as [H1 [limit H2]]. split.
       - intros y z _ _ Hle Hz. apply decide_holds. apply (H1 y z Hle). apply decide_holds, Hz.
       - exists limit. intros y Hy. apply H2, decide_holds, Hy. }
  destruct (fresh s) as [lv s1] eqn:E1. destruct (fresh s1) as [lw s2] eqn:E2.
  destruct (known ((x, lw) :: c) true t _) as [f s4] eqn:E4.
  destruct (known ((x, lv) :: c) false t _) as [g s5] eqn:E5.
  destruct (known ((x, lv) :: c) true t s1) as [f' s4'] eqn:E4'.
  destruct (linear c last s4') as [l s5'] eqn:E5'.
  inversion H as [|? ? Hfirst Hrest]; subst. inversion Hrest as [|? ? Hsecond _]; subst. split.
  - intros y z Hy Hz Hle Ht. apply decide_holds. destruct (decide ((x, y) :: e) t) eqn:Hdec; [reflexivity|]. exfalso.
    destruct (fresh_models _ _ y _ _ E1 Hm) as [Hm1 Hv].
    destruct (fresh_models _ _ z _ _ E2 Hm1) as [Hm2 Hw].
    assert (Hc2 : agrees e c ((v ++ [y]) ++ [z])) by (do 2 apply agrees_more; exact Hc).
    pose proof (denotes_more _ [z] _ _ Hv) as Hv2.
    destruct (stride_models _ _ _ _ _ d _ _ Hm2 Hc2 Hv2 Hy) as [w3 Hm3].
    destruct (stride_models _ _ _ _ _ d _ _ Hm3 (agrees_more _ _ _ w3 Hc2) (denotes_more _ w3 _ _ Hw) Hz) as [w4 Hm4].
    pose proof (denotes_more _ w4 _ _ (denotes_more _ w3 _ _ Hv2)) as Hv4.
    pose proof (denotes_more _ w4 _ _ (denotes_more _ w3 _ _ Hw)) as Hw4.
    pose proof (assume_models _ _ _ Hm4 (at_most_true _ _ _ _ _ Hv4 Hw4 Hle)) as Hm5.
    assert (Hc4 : agrees e c ((((v ++ [y]) ++ [z]) ++ w3) ++ w4)) by (do 4 apply agrees_more; exact Hc).
    destruct (known_models t _ _ _ _ _ _ _ E4 (agrees_cons _ _ _ x _ _ Hc4 Hw4) Hm5) as (w5 & Hm6 & Hf).
    apply decide_holds in Ht. pose proof (assume_models _ _ _ Hm6 (Hf Ht)) as Hm7.
    destruct (known_models t _ _ _ _ _ _ _ E5
      (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w5 Hc4) (denotes_more _ w5 _ _ Hv4)) Hm7) as (w6 & Hm8 & Hg).
    exact (refuted_state _ _ _ Hfirst Hm8 (Hg Hdec)).
  - exists (eval e last). intros y Hy. apply Znot_gt_le. intros Hgt.
    destruct (fresh_models _ _ y _ _ E1 Hm) as [Hm1 Hv]. apply decide_holds in Hy.
    pose proof (agrees_more _ _ _ [y] Hc) as Hc1.
    destruct (known_models t _ _ _ _ _ _ _ E4' (agrees_cons _ _ _ x _ _ Hc1 Hv) Hm1) as (w2 & Hm2 & Hf).
    destruct (linear_models last _ _ _ _ _ _ E5' (agrees_more _ _ _ w2 Hc1) Hm2) as (w3 & Hm3 & Hl).
    pose proof (assume_models _ _ _ Hm3 (true_at_more _ w3 _ (Hf Hy))) as Hm4.
    apply (refuted_state _ _ (assume f' s5') Hsecond Hm4).
    apply (less_true _ _ _ _ _ Hl (denotes_more _ w3 _ _ (denotes_more _ w2 _ _ Hv))). lia.
Qed.
