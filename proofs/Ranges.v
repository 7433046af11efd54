(** * Machine integers

    [Loop.v] computes with integers of any size.  Here a program is run in
    ranges, such as those of [int] and [long]: no value that it computes on the
    way, in starts, tests, steps and arguments, leaves the range of its
    expression.  [check_range] checks that this is so of the loops and subscripts
    of a text, which [Parser.v] reads, for all parameters of a specification's
    context ([check_range_runs]); the meaning in [Loop.v] is then that of a
    machine. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Lexicographic Poly Formulas Reduction Parallel.
From Loopwright Require Import Linear Symbolic Specification Conditions Reaching Walk Coverage Checker.
From Loopwright Require Import Counting Parser Text Divided.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** Types

    A type is its range: the least and the largest number.  [int] is that of
    [int], [long] that of 64 bits; other names have the types that [kinds] gives
    them, and a cast (a sum of one term) makes a number of 64 bits. *)
Definition range := (Z * Z)%type.

Definition includes (r q : range) : bool := (fst r <=? fst q) && (snd q <=? snd r).

(** C's usual conversions: of two types the larger one, or the unsigned one where they are as large. *)
Definition common (r q : range) : range :=
  let size t := snd t - fst t in
  if size r <? size q then q else if size q <? size r then r else if fst r =? 0 then r else q.

Record types := Types { int : range; long : range; kinds : list (string * range) }.

Section Range.
  Variable T : types.

  (** The type of a name; an iterator that counts up for one that counts down ([opposite]) has its type. *)
  Definition own (x : string) : range :=
    match List.find (fun one => String.eqb x (fst one) || String.eqb x (opposite (fst one))) (kinds T) with
    | Some one => snd one
    | None => int T
    end.

  (** The type in which an expression is computed: at least [int]. *)
  Fixpoint type_of (a : expr) : range :=
    match a with
    | Int _ => int T
    | Var x => if includes (int T) (own x) then int T else own x
    | Sum [_] => long T
    | Sum l | Min l | Max l => fold_right (fun b r => common (type_of b) r) (int T) l
    | Scaled _ b | FloorDiv b _ | TruncDiv b _ | Rem b _ => common (type_of b) (int T)
    | Select _ b c => common (type_of b) (type_of c)
    end.

(** ** What is computed on the way *)

  (** The value of [a] after a conversion to [r], unless every value of its type is one of [r]. *)
  Definition converted (r : range) (a : expr) : list (range * expr) :=
    if includes r (type_of a) then [] else [(r, a)].

  (** What C subtracts for a negative term. *)
  Definition operand (a : expr) : expr :=
    match a with
    | Int v => Int (Z.abs v)
    | Scaled k b => if k <? 0 then Scaled (- k) b else a
    | _ => a
    end.

  (** The sums of the first terms: C adds from left to right. *)
  Definition total (l : list expr) : expr := match l with [a] => a | _ => Sum l end.

  Fixpoint partial_sums (before l : list expr) : list (range * expr) :=
    match l with
    | [] => []
    | a :: l' =>
        let all := before ++ [a] in
        let r := type_of (total all) in
        (r, total all) :: match before with [] => [] | _ => converted r (total before) ++ converted r (operand a) end ++ partial_sums all l'
    end.

  (** All expressions whose values are computed for [a], with their types.  For
      [x - 2 * y] the value of [2 * y] is computed, and for a negative number its
      opposite, of which it may be the product with -1; where that is unsigned it
      is subtracted, for [check_range] reads no negations beside unsigned names.  A
      quotient that is rounded down may be computed from a dividend that is smaller
      by the divisor, or from its negation; both branches of a conditional count. *)
  Fixpoint computed (a : expr) : list (range * expr) :=
    let r := type_of a in
    match a with
    | Int v => (r, a) :: (if v <? 0 then [(r, Int (- v))] else [])
    | Var x => [(own x, a)]
    | Sum [b] => converted r b ++ computed b
    | Sum l => partial_sums [] l ++ flat_map computed l
    | Scaled k b =>
        (int T, Int k) :: converted r b ++ (if k <? 0 then (r, Scaled (- k) b) :: (if fst r <? 0 then [(r, a)] else []) else [(r, a)]) ++ computed b
    | FloorDiv b d =>
        let smaller := Sum [b; Int (- Z.pos d)] in
        (r, a) :: (int T, Int (Z.pos d)) :: (r, smaller) :: (r, Scaled (-1) smaller) :: converted r b ++ computed b
    | TruncDiv b d | Rem b d => (r, a) :: (int T, Int (Z.pos d)) :: converted r b ++ computed b
    | Min l | Max l => (r, a) :: flat_map (converted r) l ++ flat_map computed l
    | Select t b c => (r, a) :: converted r b ++ converted r c ++ computed_test t ++ computed b ++ computed c
    end
  with computed_test (t : test) : list (range * expr) :=
    match t with
    | Compare _ a b => let r := common (type_of a) (type_of b) in converted r a ++ converted r b ++ computed a ++ computed b
    | And l | Or l => flat_map computed_test l
    | Not u => computed_test u
    end.

  Definition in_range (r : range) (z : Z) : Prop := fst r <= z <= snd r.
  Definition all_in_range (e : env) (l : list (range * expr)) : Prop := Forall (fun ra => in_range (fst ra) (eval e (snd ra))) l.

  (** The rules of [runs], with what is computed.  In a loop that starts with
      [v] the iterator takes that value, and those that the steps lead to. *)
  Inductive runs_in_range : env -> node -> trace -> Prop :=
  | range_call e f args hint : all_in_range e (flat_map computed args) ->
      runs_in_range e (Call f args hint) [Event f (map (eval e) args) (map (eval e) hint)]
  | range_block_nil e : runs_in_range e (Block []) []
  | range_block_cons e c cs t1 t2 :
      runs_in_range e c t1 -> runs_in_range e (Block cs) t2 -> runs_in_range e (Block (c :: cs)) (t1 ++ t2)
  | range_then e c a b t : all_in_range e (computed_test c) ->
      decide e c = true -> runs_in_range e a t -> runs_in_range e (If c a b) t
  | range_else e c a b t : all_in_range e (computed_test c) ->
      decide e c = false -> runs_in_range e b t -> runs_in_range e (If c a b) t
  | range_for e x a c s b t : all_in_range e (computed a) ->
      iterates_in_range e x (eval e a) c s b t -> runs_in_range e (For x a c s b) t
  | range_let e x a b t : all_in_range e (computed a) -> in_range (own x) (eval e a) ->
      runs_in_range ((x, eval e a) :: e) b t -> runs_in_range e (Let x a b) t
  | range_mark e text b t : runs_in_range e b t -> runs_in_range e (Mark text b) t
  with iterates_in_range : env -> string -> Z -> test -> positive -> node -> trace -> Prop :=
  | range_end e x v c s b : in_range (own x) v -> all_in_range ((x, v) :: e) (computed_test c) ->
      decide ((x, v) :: e) c = false -> iterates_in_range e x v c s b []
  | range_step e x v c s b t1 t2 : in_range (own x) v -> all_in_range ((x, v) :: e) (computed_test c) ->
      decide ((x, v) :: e) c = true -> runs_in_range ((x, v) :: e) b t1 ->
      iterates_in_range e x (v + Z.pos s) c s b t2 -> iterates_in_range e x v c s b (t1 ++ t2).

  Scheme runs_range_induction := Minimality for runs_in_range Sort Prop
  with iterates_range_induction := Minimality for iterates_in_range Sort Prop.

  Theorem in_range_runs : forall e n t, runs_in_range e n t -> runs e n t.
  Proof.
    apply (runs_range_induction (fun e n t => runs e n t)
      (fun e x v c s b t => forall a, eval e a = v -> runs e (For x a c s b) t)); intros; subst; try (econstructor; eauto; fail).
    match goal with H : forall a, _ -> runs _ _ _ |- _ => apply H end. reflexivity.
  Qed.

  (** ** When a program runs in range *)

  Fixpoint fits (e : env) (n : node) : Prop :=
    match n with
    | Call f args hint => all_in_range e (flat_map computed args)
    | Block ns => all (map (fits e) ns)
    | If t a b => all_in_range e (computed_test t) /\ (holds e t -> fits e a) /\ (~ holds e t -> fits e b)
    | For x a t d b =>
        all_in_range e (computed a) /\
        in_range (own x) (eval e a) /\ all_in_range ((x, eval e a) :: e) (computed_test t) /\
        forall v, strided (eval e a) d v -> holds ((x, v) :: e) t ->
          in_range (own x) (v + Z.pos d) /\ all_in_range ((x, v + Z.pos d) :: e) (computed_test t) /\ fits ((x, v) :: e) b
    | Let x a b => all_in_range e (computed a) /\ in_range (own x) (eval e a) /\ fits ((x, eval e a) :: e) b
    | Mark _ b => fits e b
    end.

  (** The same of the iterations of a loop, whatever its start is computed from. *)
  Definition iterates_fit (e : env) (n : node) (t : trace) : Prop :=
    match n with
    | For x a c d b =>
        in_range (own x) (eval e a) -> all_in_range ((x, eval e a) :: e) (computed_test c) ->
        (forall v, strided (eval e a) d v -> holds ((x, v) :: e) c ->
          in_range (own x) (v + Z.pos d) /\ all_in_range ((x, v + Z.pos d) :: e) (computed_test c) /\ fits ((x, v) :: e) b) ->
        iterates_in_range e x (eval e a) c d b t
    | _ => True
    end.

  Lemma fits_iterates : forall e n t, runs e n t -> (fits e n -> runs_in_range e n t) /\ iterates_fit e n t.
  Proof.
    assert (Hloop : forall e x a c s b t, iterates_fit e (For x a c s b) t -> fits e (For x a c s b) ->
      runs_in_range e (For x a c s b) t).
    { intros e x a c s b t H (H1 & H2 & H3 & H4). apply range_for; [exact H1 | exact (H H2 H3 H4)]. }
    induction 1 as [e f args hint|e|e c cs t1 t2 _ IH1 _ IH2|e c a b t Hc _ IH|e c a b t Hc _ IH
                   |e x a c s b Hc|e x a c s b t1 t2 Hc _ IH1 _ IH2|e x a b t _ IH|e text b t _ IH].
    - split; [|exact I]. intros H. constructor. exact H.
    - split; [|exact I]. constructor.
    - split; [|exact I]. intros H. cbn [fits map] in H. apply all_cons in H as [H1 H2].
      constructor; [exact (proj1 IH1 H1) | exact (proj1 IH2 H2)].
    - split; [|exact I]. intros (H1 & H2 & _).
      apply range_then; [exact H1 | exact Hc | apply IH, H2, decide_holds, Hc].
    - split; [|exact I]. intros (H1 & _ & H2).
      apply range_else; [exact H1 | exact Hc | apply IH, H2, decide_fails, Hc].
    - assert (H : iterates_fit e (For x a c s b) []) by (intros H1 H2 _; apply range_end; assumption).
      split; [apply Hloop|]; exact H.
    - assert (H : iterates_fit e (For x a c s b) (t1 ++ t2)).
      { intros H1 H2 H3. apply decide_holds in Hc as Hh.
        destruct (H3 _ (strided_refl _ _) Hh) as (Hnext & Htest & Hbody).
        apply range_step; [exact H1 | exact H2 | exact Hc | exact (proj1 IH1 Hbody)|].
        apply (proj2 IH2); cbn [eval]; [exact Hnext | exact Htest|].
        intros v Hv. apply H3, strided_later, Hv. }
      split; [apply Hloop|]; exact H.
    - split; [|exact I]. intros (H1 & H2 & H3). apply range_let; [exact H1 | exact H2 | exact (proj1 IH H3)].
    - split; [|exact I]. intros H. apply range_mark, IH, H.
  Qed.

  Theorem fits_runs : forall e n t, runs e n t -> fits e n -> runs_in_range e n t.
  Proof. intros e n t H. exact (proj1 (fits_iterates e n t H)). Qed.

  (** ** The conditions *)

  Definition value_goals (c : scope) (s : state) (l : list (range * expr)) : list goal :=
    flat_map (fun ra => let (m, s1) := linear c (snd ra) s in
      [exclude (less m (number (fst (fst ra)))) s1; exclude (less (number (snd (fst ra))) m) s1]) l.

  Fixpoint range_goals (c : scope) (s : state) (n : node) : list goal :=
    match n with
    | Call f args hint => value_goals c s (flat_map computed args)
    | Block ns => flat_map (range_goals c s) ns
    | If t a b =>
        let (f, s1) := known c true t s in let (f', s1') := known c false t s in
        value_goals c s (computed_test t) ++ range_goals c (assume f s1) a ++ range_goals c (assume f' s1') b
    | For x a t d b =>
        let (m, s0) := linear c a s in
        let (v, s1) := fresh s in
        let s2 := in_loop c x a v t d s1 in
        let next := (x, plus v (number (Z.pos d))) :: c in
        value_goals c s (computed a) ++ value_goals ((x, m) :: c) s0 ((own x, Var x) :: computed_test t) ++
        value_goals next s2 ((own x, Var x) :: computed_test t) ++ range_goals ((x, v) :: c) s2 b
    | Let x a b =>
        let (m, s1) := linear c a s in
        value_goals c s (computed a) ++ value_goals ((x, m) :: c) s1 [(own x, Var x)] ++ range_goals ((x, m) :: c) s1 b
    | Mark _ b => range_goals c s b
    end.

  Lemma value_goals_sound : forall l c s e v, Forall refuted (value_goals c s l) ->
    agrees e c v -> models v s -> all_in_range e l.
  Proof.
    induction l as [|[r a] l IH]; intros c s e v H Hc Hm; [constructor|]. cbn [value_goals flat_map fst snd] in H.
    destruct (linear c a s) as [m s1] eqn:E. inversion H as [|? ? Hlow H1]; subst. inversion H1 as [|? ? Hhigh H2]; subst.
    destruct (linear_models _ _ _ _ _ _ _ E Hc Hm) as (w & Hm1 & Hd).
    constructor; [|exact (IH _ _ _ _ H2 Hc Hm)]. unfold in_range. cbn [fst snd].
    destruct (Z_lt_le_dec (eval e a) (fst r)) as [Hl | Hl].
    { destruct (refuted_state _ _ _ Hlow Hm1 (less_true _ _ _ _ _ Hd (denotes_number _ _) Hl)). }
    destruct (Z_lt_le_dec (snd r) (eval e a)) as [Hh | Hh]; [|lia].
    destruct (refuted_state _ _ _ Hhigh Hm1 (less_true _ _ _ _ _ (denotes_number _ _) Hd Hh)).
  Qed.

  Lemma first_value : forall x v e l, all_in_range ((x, v) :: e) ((own x, Var x) :: l) -> in_range (own x) v.
  Proof.
    intros x v e l H. inversion H as [|? ? Hvar _]; subst. cbn [eval lookup fst snd] in Hvar. rewrite String.eqb_refl in Hvar. exact Hvar.
  Qed.

  Theorem range_sound : forall n c s e v, Forall refuted (range_goals c s n) -> agrees e c v -> models v s -> fits e n.
  Proof.
    induction n as [f args hint|ns IH|t a b IHa IHb|x a t d b IHb|x a b IHb|text b IHb] using node_induction;
      intros c s e v H Hc Hm; cbn [range_goals fits] in *.
    - exact (value_goals_sound _ _ _ _ _ H Hc Hm).
    - induction IH as [|n ns Hn _ IHns]; [exact I|]. cbn [flat_map map] in *. apply Forall_app in H as [H1 H2].
      apply all_cons. split; [exact (Hn _ _ _ _ H1 Hc Hm) | exact (IHns H2)].
    - destruct (known c true t s) as [f s1] eqn:E1. destruct (known c false t s) as [f' s1'] eqn:E1'.
      apply Forall_app in H as [H0 H]. apply Forall_app in H as [H1 H2].
      split; [exact (value_goals_sound _ _ _ _ _ H0 Hc Hm)|]. split; intros Ht.
      + destruct (known_models _ _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hf). apply decide_holds in Ht.
        exact (IHa _ _ _ _ H1 (agrees_more _ _ _ w Hc) (assume_models _ _ _ Hm1 (Hf Ht))).
      + destruct (known_models _ _ _ _ _ _ _ _ E1' Hc Hm) as (w & Hm1 & Hf). apply decide_fails in Ht.
        exact (IHb _ _ _ _ H2 (agrees_more _ _ _ w Hc) (assume_models _ _ _ Hm1 (Hf Ht))).
    - destruct (linear c a s) as [m s0] eqn:E0. destruct (fresh s) as [lv s1] eqn:E1.
      apply Forall_app in H as [H1 H]. apply Forall_app in H as [H2 H]. apply Forall_app in H as [H3 H4].
      destruct (linear_models _ _ _ _ _ _ _ E0 Hc Hm) as (w0 & Hm0 & Hd).
      split; [exact (value_goals_sound _ _ _ _ _ H1 Hc Hm) | split].
      { pose proof (value_goals_sound _ _ _ _ _ H2 (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w0 Hc) Hd) Hm0) as Hfirst.
        exact (first_value _ _ _ _ Hfirst). }
      split.
      { pose proof (value_goals_sound _ _ _ _ _ H2 (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w0 Hc) Hd) Hm0) as Hfirst.
        inversion Hfirst; assumption. }
      intros y Hy Ht. destruct (fresh_models _ _ y _ _ E1 Hm) as [Hm1 Hv].
      pose proof (agrees_more _ _ _ [y] Hc) as Hc1.
      destruct (in_loop_models _ _ x _ _ _ _ _ _ _ Hm1 Hc1 Hv Hy Ht) as [w Hm2].
      pose proof (agrees_more _ _ _ w Hc1) as Hc2. pose proof (denotes_more _ w _ _ Hv) as Hv2.
      pose proof (value_goals_sound _ _ _ _ _ H3 (agrees_cons _ _ _ x _ _ Hc2
        (denotes_plus _ _ _ _ _ Hv2 (denotes_number _ (Z.pos d)))) Hm2) as Hnext.
      inversion Hnext as [|? ? _ Htests]; subst.
      split; [exact (first_value _ _ _ _ Hnext) | split; [exact Htests|]].
      exact (IHb _ _ _ _ H4 (agrees_cons _ _ _ x _ _ Hc2 Hv2) Hm2).
    - destruct (linear c a s) as [m s1] eqn:E1. apply Forall_app in H as [H1 H]. apply Forall_app in H as [H3 H2].
      destruct (linear_models _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hd).
      split; [exact (value_goals_sound _ _ _ _ _ H1 Hc Hm)|]. split.
      { pose proof (value_goals_sound _ _ _ _ _ H3 (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w Hc) Hd) Hm1) as Hfirst.
        exact (first_value _ _ _ _ Hfirst). }
      exact (IHb _ _ _ _ H2 (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w Hc) Hd) Hm1).
    - exact (IHb _ _ _ _ H Hc Hm).
  Qed.
End Range.

(** ** Texts *)

(** What stands in brackets. *)
Fixpoint subscripts (fuel : nat) (ts : list token) : option (list expr) :=
  match ts with
  | [] => Some []
  | Sign s :: ts' =>
      match subscripts fuel ts' with
      | Some l =>
          if String.eqb s "[" then
            match expression fuel ts' with
            | Some (a, Sign s' :: _) => if String.eqb s' "]" then Some (value_of a :: l) else None
            | _ => None
            end
          else Some l
      | None => None
      end
  | _ :: ts' => subscripts fuel ts'
  end.

(** The loops of a text, whose statements are calls with their subscripts as arguments. *)
Definition with_subscripts (names : list string) (text : string) : option counted :=
  match parse true names text with
  | Some n =>
      match replaced unit
              (fun f _ s => let ts := words f in
                match subscripts (10 * List.length ts + 10) ts with Some l => Some (Calling f l [], s) | None => None end)
              (fun s => Some (fun n => n, s)) (fun line _ => Some (Remark line)) n tt with
      | Some (n', _) => if proper names n' then Some n' else None
      | None => None
      end
  | None => None
  end.

(** Calls next to each other as one, and what they compute once: the copies of an unrolled body repeat it. *)
Definition merge (c : node) (l : list node) : list node :=
  match c, l with
  | Call f args hint, Call _ args' _ :: l' => Call f (nodup expr_dec (args ++ args')) hint :: l'
  | _, _ => c :: l
  end.

Fixpoint merged (n : node) : node :=
  match n with
  | Call f args hint => Call f (nodup expr_dec args) hint
  | Block ns => Block (fold_right merge [] (map merged ns))
  | If t a b => If t (merged a) (merged b)
  | For x a t d b => For x a t d (merged b)
  | Let x a b => Let x a (merged b)
  | Mark text b => Mark text (merged b)
  end.

Lemma computed_once : forall T e args,
  all_in_range e (flat_map (computed T) (nodup expr_dec args)) -> all_in_range e (flat_map (computed T) args).
Proof.
  unfold all_in_range. intros T e args. rewrite !Forall_forall. intros H a Ha. apply H.
  apply in_flat_map in Ha as (b & Hb & Ha). apply in_flat_map. exists b. split; [apply nodup_In, Hb | exact Ha].
Qed.

Lemma merge_fits : forall T e c l, all (map (fits T e) (merge c l)) ->
  fits T e c /\ all (map (fits T e) l).
Proof.
  intros T e c l H. destruct c as [f args hint| | | | |]; try (apply all_cons, H).
  destruct l as [|[f' args' hint'| | | | |] l]; try (apply all_cons, H).
  cbn [merge map] in H. apply all_cons in H as [H1 H2]. cbn [fits] in H1. apply computed_once in H1.
  rewrite flat_map_app in H1. apply Forall_app in H1 as [H1 H1']. split; [exact H1 | apply all_cons; split; assumption].
Qed.

Lemma merged_fits : forall T n e, fits T e (merged n) -> fits T e n.
Proof.
  intros T.
  induction n as [f args hint|ns IH|t a b IHa IHb|x a t d b IHb|x a b IHb|text b IHb] using node_induction;
    intros e H; cbn [merged fits] in *.
  - exact (computed_once _ _ _ H).
  - induction IH as [|n ns Hn _ IHns]; [exact I|]. cbn [map fold_right] in *. apply merge_fits in H as [H1 H2].
    apply all_cons. split; [exact (Hn _ H1) | exact (IHns H2)].
  - destruct H as (H1 & H2 & H3). split; [exact H1 | split; intros Ht; [apply IHa, H2, Ht | apply IHb, H3, Ht]].
  - destruct H as (H1 & H2 & H3 & H4). split; [exact H1 | split; [exact H2 | split; [exact H3|]]].
    intros v Hv Ht. destruct (H4 v Hv Ht) as (H5 & H6 & H7). split; [exact H5 | split; [exact H6 | exact (IHb _ H7)]].
  - destruct H as (H1 & H2 & H3). split; [exact H1 | split; [exact H2 | exact (IHb _ H3)]].
  - exact (IHb _ H).
Qed.

(** ** The theorem *)

Definition all_range_goals (G : specification) (T : types) (n : counted) : list goal :=
  let (c, s) := beginning G in range_goals T c s (merged (lowered n)).

(** A minus sign that does not subtract. *)
Fixpoint negates (before : option token) (ts : list token) : bool :=
  match ts with
  | [] => false
  | t :: ts' =>
      let operand := match before with
                     | Some (Word _ | Number _ _ | Unread _) => true
                     | Some (Sign s) => String.eqb s ")" || String.eqb s "]"
                     | _ => false
                     end in
      match t with Sign s => String.eqb s "-" && negb operand | _ => false end || negates (Some t) ts'
  end.

Definition check_range (G : specification) (T : types) (text : string) (cs : list certificate) : bool :=
  match with_subscripts (sizes G) text with
  | Some n =>
      negb (existsb (fun one => fst (snd one) =? 0) (kinds T) && negates None (words text)) &&
      refutes_all cs (all_range_goals G T n)
  | None => false
  end.

(** Whatever the parameters, the loops of a text that passes the check, and its
    subscripts, compute nothing out of range in any run that they have. *)
Theorem check_range_runs : forall G T text cs, check_range G T text cs = true ->
  exists n, with_subscripts (sizes G) text = Some n /\
  forall p, context (meant G) p -> forall t, runs (environment (meant G) p) (lowered n) t ->
  runs_in_range T (environment (meant G) p) (lowered n) t.
Proof.
  intros G T text cs H. unfold check_range in H.
  destruct (with_subscripts (sizes G) text) as [n|]; [|discriminate]. exists n. split; [reflexivity|].
  intros p Hp t Ht. apply andb_prop in H as [_ H]. apply refutes_all_sound in H. unfold all_range_goals in H.
  destruct (beginning G) as [c s] eqn:E. destruct (beginning_models _ _ _ _ E Hp) as (v & Hm & Hc).
  exact (fits_runs _ _ _ _ Ht (merged_fits _ _ _ (range_sound _ _ _ _ _ _ H Hc Hm))).
Qed.
