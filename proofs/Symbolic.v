(** * Expressions and tests as linear facts

    LOOP's expressions over variables whose values are not known.  What is not
    linear gets a variable of its own and facts that say what it is: a quotient
    [q] of [a] by [d] has [d q <= a <= d q + d - 1], a minimum is below all
    and equal to one.  Each such variable has exactly one value, so that
    nothing is lost or assumed. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Linear Formulas Reduction.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** States *)

(** How a quotient is rounded: down, or towards zero, as C does. *)
Inductive rounding := Down | Toward_zero.

Definition divide (r : rounding) (a : Z) (d : positive) : Z :=
  match r with
  | Down => a / Z.pos d
  | Toward_zero => Z.quot a (Z.pos d)
  end.

(** How many variables there are, which of them are quotients, and what is
    known. *)
Record state := State {
  next : nat;
  quotients : list (lin * positive * rounding * nat);
  facts : list fact
}.

(** In [v] the variables of [l] have values, and [l] has the value [z]. *)
Definition denotes (v : list Z) (l : lin) (z : Z) : Prop := within v l /\ value v l = z.

Definition is_quotient (v : list Z) (entry : lin * positive * rounding * nat) : Prop :=
  let '(l, d, r, k) := entry in
  within v l /\ (k < List.length v)%nat /\ nth k v 0 = divide r (value v l) d.

Record models (v : list Z) (s : state) : Prop := {
  enough : List.length v = next s;
  quotients_right : Forall (is_quotient v) (quotients s);
  facts_true : Forall (true_at v) (facts s)
}.

Lemma denotes_more : forall v w l z, denotes v l z -> denotes (v ++ w) l z.
Proof. intros v w l z [Hw <-]. split; [apply within_more, Hw | apply value_more, Hw]. Qed.

Lemma is_quotient_more : forall v w q, is_quotient v q -> is_quotient (v ++ w) q.
Proof.
  intros v w [[[l d] r] k] (Hw & Hk & H). cbn [is_quotient]. rewrite app_length, value_more by exact Hw.
  split; [apply within_more, Hw | split; [lia|]]. rewrite app_nth1 by exact Hk. exact H.
Qed.

Lemma denotes_number : forall v c, denotes v (number c) c.
Proof. intros v c. split; [unfold within; cbn; lia | apply value_number]. Qed.

Lemma add_vectors_length : forall k m n, (List.length k <= n)%nat -> (List.length m <= n)%nat ->
  (List.length (add_vectors k m) <= n)%nat.
Proof.
  induction k as [|a k IH]; intros [|b m] [|n]; cbn [add_vectors List.length]; try lia.
  intros H1 H2. specialize (IH m n). lia.
Qed.

Lemma denotes_plus : forall v l m y z, denotes v l y -> denotes v m z -> denotes v (plus l m) (y + z).
Proof.
  intros v l m y z [H1 <-] [H2 <-]. split; [|apply value_plus].
  unfold within, plus in *. cbn [snd]. apply add_vectors_length; assumption.
Qed.

Lemma denotes_times : forall v a l z, denotes v l z -> denotes v (times a l) (a * z).
Proof.
  intros v a l z [H <-]. split; [|apply value_times]. unfold within, times in *. cbn [snd].
  rewrite map_length. exact H.
Qed.

Lemma denotes_minus : forall v l m y z, denotes v l y -> denotes v m z -> denotes v (minus l m) (y - z).
Proof.
  intros v l m y z H1 H2. unfold minus. replace (y - z) with (y + -1 * z) by lia.
  apply denotes_plus; [exact H1 | apply denotes_times, H2].
Qed.

Lemma denotes_variable : forall v k, (k < List.length v)%nat -> denotes v (variable k) (nth k v 0).
Proof.
  intros v k H. split; [|apply value_variable]. unfold within, variable. cbn [snd].
  rewrite app_length, repeat_length. cbn [List.length]. lia.
Qed.

Lemma denotes_above : forall v l z, denotes v l z -> 0 <= z -> true_at v (above l).
Proof. intros v l z [Hw <-] H. apply above_true; assumption. Qed.

Lemma denotes_zero : forall v l z, denotes v l z -> z = 0 -> true_at v (zero l).
Proof. intros v l z [Hw <-] H. apply zero_true; assumption. Qed.

(** *** New variables and new facts *)

Definition fresh (s : state) : lin * state :=
  (variable (next s), State (S (next s)) (quotients s) (facts s)).

Definition assume (f : fact) (s : state) : state := State (next s) (quotients s) (push f (facts s)).

Lemma models_more : forall v s w, models v s ->
  Forall (is_quotient (v ++ w)) (quotients s) /\ Forall (true_at (v ++ w)) (facts s).
Proof.
  intros v s w [_ Hq Hf]. split.
  - revert Hq. apply Forall_impl. intros q. apply is_quotient_more.
  - revert Hf. apply Forall_impl. intros f. apply true_at_more.
Qed.

Lemma fresh_models : forall v s z l s', fresh s = (l, s') -> models v s ->
  models (v ++ [z]) s' /\ denotes (v ++ [z]) l z.
Proof.
  intros v s z l s' H Hm. injection H as <- <-. destruct (models_more v s [z] Hm) as [Hq Hf].
  destruct Hm as [Hn _ _]. split.
  - constructor; cbn; [rewrite app_length, Hn; cbn; lia | exact Hq | exact Hf].
  - rewrite <- Hn. replace z with (nth (List.length v) (v ++ [z]) 0) at 2.
    + apply denotes_variable. rewrite app_length. cbn. lia.
    + rewrite app_nth2 by lia. rewrite Nat.sub_diag. reflexivity.
Qed.

Lemma push_true : forall v f fs, true_at v f -> Forall (true_at v) fs -> Forall (true_at v) (push f fs).
Proof.
  intros v [l|l|gs|gs] fs Hf H; cbn [push]; try (constructor; assumption).
  apply Forall_app. split; [apply both_all, Hf | exact H].
Qed.

Lemma assume_models : forall v f s, models v s -> true_at v f -> models v (assume f s).
Proof.
  intros v f s [Hn Hq Hf] H. constructor; cbn; [exact Hn | exact Hq | apply push_true; assumption].
Qed.

(** *** Quotients *)

Fixpoint same_vector (k m : list Z) : bool :=
  match k, m with
  | [], [] => true
  | a :: k', b :: m' => (a =? b) && same_vector k' m'
  | _, _ => false
  end.

Lemma same_vector_equal : forall k m, same_vector k m = true -> k = m.
Proof.
  induction k as [|a k IH]; intros [|b m] H; try discriminate; [reflexivity|].
  cbn [same_vector] in H. apply andb_prop in H as [Ha H]. apply Z.eqb_eq in Ha. subst. f_equal. auto.
Qed.

Definition same_lin (l m : lin) : bool := (fst l =? fst m) && same_vector (snd l) (snd m).

Lemma same_lin_equal : forall l m, same_lin l m = true -> l = m.
Proof.
  intros [c k] [d m] H. apply andb_prop in H as [Hc H]. cbn [fst snd] in *.
  apply Z.eqb_eq in Hc. apply same_vector_equal in H. congruence.
Qed.

Definition same_rounding (r q : rounding) : bool :=
  match r, q with Down, Down | Toward_zero, Toward_zero => true | _, _ => false end.

Fixpoint find_quotient (l : lin) (d : positive) (r : rounding) (known : list (lin * positive * rounding * nat))
    : option nat :=
  match known with
  | [] => None
  | (m, e, q, k) :: known' =>
      if Pos.eqb d e && same_rounding r q && same_lin l m then Some k else find_quotient l d r known'
  end.

Lemma find_quotient_right : forall v l d r known k, Forall (is_quotient v) known ->
  find_quotient l d r known = Some k -> (k < List.length v)%nat /\ nth k v 0 = divide r (value v l) d.
Proof.
  intros v l d r. induction known as [|[[[m e] q] j] known IH]; intros k Hall H; [discriminate|].
  inversion Hall as [|? ? Hone Hall']; subst. cbn [find_quotient] in H.
  destruct (Pos.eqb d e && same_rounding r q && same_lin l m) eqn:Heq; [|exact (IH k Hall' H)].
  apply andb_prop in Heq as [Heq Hl]. apply andb_prop in Heq as [Hd Hr].
  apply Pos.eqb_eq in Hd. apply same_lin_equal in Hl. subst.
  injection H as <-. cbn [is_quotient] in Hone. destruct r, q; try discriminate; tauto.
Qed.

(** A quotient that is known, or a new variable for it. *)
Definition divided_by (l : lin) (d : positive) (r : rounding) (about : lin -> list fact) (s : state) : lin * state :=
  if Pos.eqb d 1 then (l, s)
  else if constant l then (number (divide r (fst l) d), s)
  else match find_quotient l d r (quotients s) with
  | Some k => (variable k, s)
  | None =>
      let q := variable (next s) in
      (q, State (S (next s)) ((l, d, r, next s) :: quotients s) (about (minus l (times (Z.pos d) q)) ++ facts s))
  end.

(** [about] says, of [l] and what is left of it, something true. *)
Lemma divided_by_models : forall v s l d r about z q s', divided_by l d r about s = (q, s') ->
  models v s -> denotes v l z ->
  (forall w rest, denotes (v ++ w) l z -> denotes (v ++ w) rest (z - Z.pos d * divide r z d) ->
     Forall (true_at (v ++ w)) (about rest)) ->
  exists w, models (v ++ w) s' /\ denotes (v ++ w) q (divide r z d).
Proof.
  intros v s l d r about z q s' H Hm Hl Habout. unfold divided_by in H. destruct (Pos.eqb_spec d 1) as [-> | Hd].
  { injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm|].
    destruct r; cbn [divide]; rewrite ?Z.div_1_r, ?Z.quot_1_r; exact Hl. }
  destruct (constant l) eqn:Hc.
  { injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm|]. destruct Hl as [_ <-].
    rewrite (constant_value v l Hc). apply denotes_number. }
  destruct (find_quotient l d r (quotients s)) as [k|] eqn:Hk.
  { injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm|].
    destruct Hm as [_ Hq _]. destruct (find_quotient_right v l d r _ k Hq Hk) as [Hlt Heq].
    destruct Hl as [_ <-]. rewrite <- Heq. apply denotes_variable, Hlt. }
  destruct (fresh_models v s (divide r z d) _ _ eq_refl Hm) as [Hm' Hq].
  destruct Hm' as [Hn' Hq' Hf']. cbn [next quotients facts] in *. injection H as <- <-.
  exists [divide r z d]. pose proof (denotes_more v [divide r z d] l z Hl) as Hl'. split; [|exact Hq].
  pose proof (denotes_minus _ _ _ _ _ Hl' (denotes_times _ (Z.pos d) _ _ Hq)) as Hrest.
  constructor; cbn [next quotients facts].
  - exact Hn'.
  - constructor; [|exact Hq']. cbn [is_quotient].
    destruct Hl' as [Hw Hv]. rewrite Hv. split; [exact Hw|].
    destruct Hm as [Hn _ _]. rewrite app_length. cbn. split; [lia|].
    rewrite app_nth2 by lia. rewrite <- Hn, Nat.sub_diag. reflexivity.
  - apply Forall_app. split; [exact (Habout _ _ Hl' Hrest) | exact Hf'].
Qed.

(** [l] is [d] times a whole part and a rest, whose coefficients are below [d]:
    what differs by multiples of [d] has the same quotient to be found. *)
Definition whole_part (l : lin) (d : positive) : lin := (fst l / Z.pos d, map (fun a => a / Z.pos d) (snd l)).
Definition rest_part (l : lin) (d : positive) : lin := (fst l mod Z.pos d, map (fun a => a mod Z.pos d) (snd l)).

Lemma parts_value : forall v l d, value v l = Z.pos d * value v (whole_part l d) + value v (rest_part l d).
Proof.
  intros v [c k] d. unfold value, whole_part, rest_part. cbn [fst snd].
  assert (H : dot k v = Z.pos d * dot (map (fun a => a / Z.pos d) k) v + dot (map (fun a => a mod Z.pos d) k) v).
  { revert v. induction k as [|a k IH]; intros [|b v]; cbn [map dot]; try lia. rewrite IH.
    rewrite (Z.div_mod a (Z.pos d)) at 1 by lia. ring. }
  rewrite H. rewrite (Z.div_mod c (Z.pos d)) at 1 by lia. ring.
Qed.

Lemma within_map : forall v c k f, within v (c, k) -> forall c', within v (c', map f k).
Proof. intros v c k f H c'. unfold within in *. cbn [snd] in *. rewrite map_length. exact H. Qed.

(** The quotient of [l] by [d], rounded down. *)
Definition quotient (l : lin) (d : positive) (s : state) : lin * state :=
  let (q, s1) := divided_by (rest_part l d) d Down
    (fun rest => [above rest; above (minus (number (Z.pos d - 1)) rest)]) s in
  (plus (whole_part l d) q, s1).

Lemma quotient_models : forall v s l d z q s', quotient l d s = (q, s') -> models v s -> denotes v l z ->
  exists w, models (v ++ w) s' /\ denotes (v ++ w) q (z / Z.pos d).
Proof.
  intros v s l d z q s' H Hm Hl. unfold quotient in H.
  destruct (divided_by (rest_part l d) d Down _ s) as [q0 s1] eqn:E. injection H as <- <-.
  pose proof (parts_value v l d) as Hparts. destruct l as [c k]. destruct Hl as [Hwithin Hvalue].
  set (whole := value v (whole_part (c, k) d)) in *. set (rest := value v (rest_part (c, k) d)) in *.
  assert (Hwhole : denotes v (whole_part (c, k) d) whole) by (split; [apply (within_map v c k _ Hwithin) | reflexivity]).
  assert (Hrest : denotes v (rest_part (c, k) d) rest) by (split; [apply (within_map v c k _ Hwithin) | reflexivity]).
  destruct (divided_by_models v s _ d Down _ rest q0 s1 E Hm Hrest) as (w & Hm1 & Hq).
  - intros w r _ Hr. cbn [divide] in Hr.
    pose proof (Z.mod_eq rest (Z.pos d) ltac:(lia)) as Hmod.
    pose proof (Z.mod_pos_bound rest (Z.pos d) ltac:(lia)) as Hbound.
    constructor; [apply (denotes_above _ _ _ Hr); lia|]. constructor; [|constructor].
    apply (denotes_above _ _ _ (denotes_minus _ _ _ _ _ (denotes_number _ (Z.pos d - 1)) Hr)). lia.
  - exists w. split; [exact Hm1|]. replace (z / Z.pos d) with (whole + rest / Z.pos d).
    + apply denotes_plus; [apply denotes_more, Hwhole | exact Hq].
    + rewrite <- Hvalue, Hparts. rewrite Z.mul_comm, Z.div_add_l by lia. reflexivity.
Qed.

(** ** Names *)

(** What each name stands for, the innermost first. *)
Definition scope := list (string * lin).

Fixpoint find (x : string) (c : scope) : lin :=
  match c with
  | [] => number 0
  | (y, l) :: c' => if String.eqb x y then l else find x c'
  end.

(** The environment [e] gives the names the values that [c] has in [v]. *)
Definition agrees (e : env) (c : scope) (v : list Z) : Prop :=
  Forall2 (fun b m => fst b = fst m /\ denotes v (snd m) (snd b)) e c.

Lemma agrees_more : forall e c v w, agrees e c v -> agrees e c (v ++ w).
Proof.
  intros e c v w. unfold agrees. induction 1 as [|b m e c [H1 H2] _ IH]; constructor; auto.
  split; [exact H1 | apply denotes_more, H2].
Qed.

Lemma agrees_find : forall e c v x, agrees e c v -> denotes v (find x c) (lookup x e).
Proof.
  intros e c v x. induction 1 as [|[y z] [y' l] e c [H1 H2] _ IH]; [apply denotes_number|].
  cbn [fst snd] in *. subst y'. cbn [find lookup]. destruct (String.eqb x y); assumption.
Qed.

Lemma agrees_cons : forall e c v x l z, agrees e c v -> denotes v l z -> agrees ((x, z) :: e) ((x, l) :: c) v.
Proof. intros e c v x l z H Hl. constructor; [split; [reflexivity | exact Hl] | exact H]. Qed.

Lemma agrees_app : forall e e' c c' v, agrees e c v -> agrees e' c' v -> agrees (e ++ e') (c ++ c') v.
Proof. intros. apply Forall2_app; assumption. Qed.

(** Lists of terms and their values. *)
Definition denote_all (v : list Z) (ls : list lin) (zs : list Z) : Prop := Forall2 (denotes v) ls zs.

Lemma denote_all_more : forall v w ls zs, denote_all v ls zs -> denote_all (v ++ w) ls zs.
Proof. intros v w ls zs. induction 1; constructor; auto. apply denotes_more. assumption. Qed.

Lemma agrees_combine : forall v names ls zs, denote_all v ls zs -> agrees (combine names zs) (combine names ls) v.
Proof.
  intros v names ls zs H. revert names.
  induction H as [|l z ls zs Hl _ IH]; intros [|x names]; cbn [combine]; constructor; [|apply IH].
  split; [reflexivity | exact Hl].
Qed.

(** ** Comparisons *)

Definition opposite (r : relation) : relation :=
  match r with EQ => NE | NE => EQ | LE => GT | LT => GE | GE => LT | GT => LE end.

Definition less (l m : lin) : fact := above (minus (minus m l) (number 1)).
Definition at_most (l m : lin) : fact := above (minus m l).
Definition differ (l m : lin) : fact := either [less l m; less m l].

Definition compared (r : relation) (l m : lin) : fact :=
  match r with
  | EQ => zero (minus l m)
  | NE => differ l m
  | LE => at_most l m
  | LT => less l m
  | GE => at_most m l
  | GT => less m l
  end.

Lemma less_true : forall v l m y z, denotes v l y -> denotes v m z -> y < z -> true_at v (less l m).
Proof.
  intros v l m y z Hl Hm H. unfold less.
  apply (denotes_above _ _ _ (denotes_minus _ _ _ _ _ (denotes_minus _ _ _ _ _ Hm Hl) (denotes_number _ 1))). lia.
Qed.

Lemma at_most_true : forall v l m y z, denotes v l y -> denotes v m z -> y <= z -> true_at v (at_most l m).
Proof.
  intros v l m y z Hl Hm H. apply (denotes_above _ _ _ (denotes_minus _ _ _ _ _ Hm Hl)). lia.
Qed.

Lemma equal_true : forall v l m y z, denotes v l y -> denotes v m z -> y = z -> true_at v (zero (minus l m)).
Proof.
  intros v l m y z Hl Hm H. apply (denotes_zero _ _ _ (denotes_minus _ _ _ _ _ Hl Hm)). lia.
Qed.

Lemma differ_true : forall v l m y z, denotes v l y -> denotes v m z -> y <> z -> true_at v (differ l m).
Proof.
  intros v l m y z Hl Hm H. unfold differ. apply either_true.
  destruct (Z.lt_trichotomy y z) as [Hlt | [Heq | Hlt]]; [left | contradiction | right; left];
    eapply less_true; eauto.
Qed.

Lemma compared_true : forall v l m y z r, denotes v l y -> denotes v m z ->
  compare r y z = true -> true_at v (compared r l m).
Proof.
  intros v l m y z r Hl Hm H. destruct r; cbn [compare compared] in *.
  - eapply equal_true; eauto. lia.
  - eapply differ_true; eauto. lia.
  - eapply at_most_true; eauto. lia.
  - eapply less_true; eauto. lia.
  - eapply at_most_true; eauto. lia.
  - eapply less_true; eauto. lia.
Qed.

Lemma compare_opposite : forall r y z, compare (opposite r) y z = negb (compare r y z).
Proof. intros [] y z; cbn [compare opposite]; rewrite ?negb_involutive; try reflexivity; lia. Qed.

(** ** Expressions and tests *)

Definition sum_all (ls : list lin) : lin := fold_right plus (number 0) ls.

(** The new variable is the smallest of [ls], or the largest. *)
Definition least (ls : list lin) (s : state) : lin * state :=
  match ls with
  | [] => (number 0, s)
  | [l] => (l, s)
  | _ => let (m, s1) := fresh s in
         (m, assume (both (either (map (fun l => at_most l m) ls) :: map (at_most m) ls)) s1)
  end.

Definition greatest (ls : list lin) (s : state) : lin * state :=
  match ls with
  | [] => (number 0, s)
  | [l] => (l, s)
  | _ => let (m, s1) := fresh s in
         (m, assume (both (either (map (at_most m) ls) :: map (fun l => at_most l m) ls)) s1)
  end.

(** Rounded towards zero. *)
Definition truncated (l : lin) (d : positive) : state -> lin * state :=
  divided_by l d Toward_zero (fun rest =>
    [either [
       both [above l; above rest; above (minus (number (Z.pos d - 1)) rest)];
       both [less l (number 0); above (times (-1) rest); above (plus (number (Z.pos d - 1)) rest)]]]).

Fixpoint linear (c : scope) (a : expr) (s : state) : lin * state :=
  let list := fix list (l : list expr) (s : state) : list lin * state :=
    match l with
    | [] => ([], s)
    | a :: l' => let (m, s1) := linear c a s in let (ms, s2) := list l' s1 in (m :: ms, s2)
    end in
  match a with
  | Int z => (number z, s)
  | Var x => (find x c, s)
  | Sum l => let (ms, s1) := list l s in (sum_all ms, s1)
  | Scaled k b => let (m, s1) := linear c b s in (times k m, s1)
  | FloorDiv b d => let (m, s1) := linear c b s in quotient m d s1
  | TruncDiv b d => let (m, s1) := linear c b s in truncated m d s1
  | Rem b d =>
      let (m, s1) := linear c b s in let (q, s2) := truncated m d s1 in (minus m (times (Z.pos d) q), s2)
  | Min l => let (ms, s1) := list l s in least ms s1
  | Max l => let (ms, s1) := list l s in greatest ms s1
  | Select t b b' =>
      let (yes, s1) := literal c true t s in let (no, s2) := literal c false t s1 in
      let (m, s3) := linear c b s2 in let (m', s4) := linear c b' s3 in
      let (x, s5) := fresh s4 in
      (x, assume (either [both [yes; zero (minus x m)]; both [no; zero (minus x m')]]) s5)
  end
(** What is known when the test has the value [b], word by word. *)
with literal (c : scope) (b : bool) (t : test) (s : state) : fact * state :=
  let list := fix list (l : list test) (s : state) : list fact * state :=
    match l with
    | [] => ([], s)
    | t :: l' => let (f, s1) := literal c b t s in let (fs, s2) := list l' s1 in (f :: fs, s2)
    end in
  match t with
  | Compare r x y =>
      let (l, s1) := linear c x s in let (m, s2) := linear c y s1 in
      (compared (if b then r else opposite r) l m, s2)
  | And l => let (fs, s1) := list l s in ((if b then both fs else either fs), s1)
  | Or l => let (fs, s1) := list l s in ((if b then either fs else both fs), s1)
  | Not u => literal c (negb b) u s
  end.

(** *** They mean what they say *)

Section ExpressionInduction.
  Variable P : expr -> Prop.
  Variable Q : test -> Prop.
  Hypothesis case_int : forall z, P (Int z).
  Hypothesis case_var : forall x, P (Var x).
  Hypothesis case_sum : forall l, Forall P l -> P (Sum l).
  Hypothesis case_scaled : forall k a, P a -> P (Scaled k a).
  Hypothesis case_floor : forall a d, P a -> P (FloorDiv a d).
  Hypothesis case_trunc : forall a d, P a -> P (TruncDiv a d).
  Hypothesis case_rem : forall a d, P a -> P (Rem a d).
  Hypothesis case_min : forall l, Forall P l -> P (Min l).
  Hypothesis case_max : forall l, Forall P l -> P (Max l).
  Hypothesis case_select : forall t a b, Q t -> P a -> P b -> P (Select t a b).
  Hypothesis case_compare : forall r a b, P a -> P b -> Q (Compare r a b).
  Hypothesis case_and : forall l, Forall Q l -> Q (And l).
  Hypothesis case_or : forall l, Forall Q l -> Q (Or l).
  Hypothesis case_not : forall t, Q t -> Q (Not t).

  Fixpoint expr_induction (a : expr) : P a :=
    let each := fix each (l : list expr) : Forall P l :=
      match l with
      | [] => Forall_nil P
      | b :: l' => Forall_cons b (expr_induction b) (each l')
      end in
    match a with
    | Int z => case_int z
    | Var x => case_var x
    | Sum l => case_sum l (each l)
    | Scaled k b => case_scaled k b (expr_induction b)
    | FloorDiv b d => case_floor b d (expr_induction b)
    | TruncDiv b d => case_trunc b d (expr_induction b)
    | Rem b d => case_rem b d (expr_induction b)
    | Min l => case_min l (each l)
    | Max l => case_max l (each l)
    | Select t b b' => case_select t b b' (test_induction t) (expr_induction b) (expr_induction b')
    end
  with test_induction (t : test) : Q t :=
    let each := fix each (l : list test) : Forall Q l :=
      match l with
      | [] => Forall_nil Q
      | u :: l' => Forall_cons u (test_induction u) (each l')
      end in
    match t with
    | Compare r a b => case_compare r a b (expr_induction a) (expr_induction b)
    | And l => case_and l (each l)
    | Or l => case_or l (each l)
    | Not u => case_not u (test_induction u)
    end.
End ExpressionInduction.

Lemma denotes_sum : forall v ls zs, denote_all v ls zs -> denotes v (sum_all ls) (sum zs).
Proof.
  intros v ls zs H.
  assert (Hright : denotes v (sum_all ls) (fold_right Z.add 0 zs)).
  { induction H as [|l z ls zs Hl _ IH]; [apply denotes_number | apply denotes_plus; assumption]. }
  replace (sum zs) with (fold_right Z.add 0 zs); [exact Hright|]. clear.
  destruct zs as [|z zs]; [reflexivity|]. cbn [fold_right sum]. revert z.
  induction zs as [|y zs IH]; intros z; cbn [fold_right fold_left]; [lia|]. rewrite <- IH. lia.
Qed.

Lemma minimum_least : forall z zs, let m := fold_left Z.min zs z in (m = z \/ In m zs) /\ m <= z /\ Forall (Z.le m) zs.
Proof.
  intros z zs. revert z. induction zs as [|y zs IH]; intros z; cbn [fold_left].
  - split; [left; reflexivity | split; [lia | constructor]].
  - destruct (IH (Z.min z y)) as (H1 & H2 & H3). split; [|split; [lia | constructor; [lia | exact H3]]].
    cbn [In]. destruct H1 as [H1 | H1]; [|auto]. lia.
Qed.

Lemma maximum_greatest : forall z zs, let m := fold_left Z.max zs z in (m = z \/ In m zs) /\ z <= m /\ Forall (fun y => y <= m) zs.
Proof.
  intros z zs. revert z. induction zs as [|y zs IH]; intros z; cbn [fold_left].
  - split; [left; reflexivity | split; [lia | constructor]].
  - destruct (IH (Z.max z y)) as (H1 & H2 & H3). split; [|split; [lia | constructor; [lia | exact H3]]].
    cbn [In]. destruct H1 as [H1 | H1]; [|auto]. lia.
Qed.

Lemma related_forall : forall (R : lin -> Z -> Prop) (T : lin -> Prop) (U : Z -> Prop),
  (forall l z, R l z -> U z -> T l) -> forall ls zs, Forall2 R ls zs -> Forall U zs -> Forall T ls.
Proof. intros R T U H ls zs. induction 1; intros HU; inversion HU; constructor; eauto. Qed.

Lemma related_exists : forall (R : lin -> Z -> Prop) (T : lin -> Prop) (U : Z -> Prop),
  (forall l z, R l z -> U z -> T l) -> forall ls zs, Forall2 R ls zs -> Exists U zs -> Exists T ls.
Proof. intros R T U H ls zs. induction 1; intros HU; inversion HU; subst; [left | right]; eauto. Qed.

Lemma least_models : forall v s ls zs m s', least ls s = (m, s') -> models v s -> denote_all v ls zs ->
  exists w, models (v ++ w) s' /\ denotes (v ++ w) m (minimum zs).
Proof.
  intros v s ls zs m s' H Hm Hls. destruct Hls as [|l z ls zs Hl Hls].
  { injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | apply denotes_number]. }
  destruct Hls as [|l' z' ls zs Hl' Hls].
  { injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | exact Hl]. }
  cbn [least] in H. set (x := minimum (z :: z' :: zs)). destruct (fresh s) as [y s1] eqn:Hf.
  injection H as <- <-. destruct (fresh_models v s x _ _ Hf Hm) as [Hm1 Hx]. exists [x]. split; [|exact Hx].
  pose proof (denote_all_more v [x] _ _ (Forall2_cons _ _ Hl (Forall2_cons _ _ Hl' Hls))) as Hall.
  destruct (minimum_least z (z' :: zs)) as (Hin & Hz & Hzs). fold (minimum (z :: z' :: zs)) in Hin, Hz, Hzs. fold x in Hin, Hz, Hzs.
  apply assume_models; [exact Hm1|]. apply both_true. constructor.
  - apply either_true. change (Exists (true_at (v ++ [x])) (map (fun k => at_most k y) (l :: l' :: ls))).
    apply Exists_map.
    assert (Hex : Exists (fun y => y <= x) (z :: z' :: zs)).
    { apply Exists_exists. exists x. split; [|lia]. destruct Hin as [-> | Hin]; [left; reflexivity | right; exact Hin]. }
    revert Hall Hex. apply related_exists. intros k y' Hk Hy. exact (at_most_true _ _ _ _ _ Hk Hx Hy).
  - change (Forall (true_at (v ++ [x])) (map (at_most y) (l :: l' :: ls))).
    apply Forall_map. assert (Hfor : Forall (Z.le x) (z :: z' :: zs)) by (constructor; assumption).
    revert Hall Hfor. apply related_forall. intros k y' Hk Hy. exact (at_most_true _ _ _ _ _ Hx Hk Hy).
Qed.

Lemma greatest_models : forall v s ls zs m s', greatest ls s = (m, s') -> models v s -> denote_all v ls zs ->
  exists w, models (v ++ w) s' /\ denotes (v ++ w) m (maximum zs).
Proof.
  intros v s ls zs m s' H Hm Hls. destruct Hls as [|l z ls zs Hl Hls].
  { injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | apply denotes_number]. }
  destruct Hls as [|l' z' ls zs Hl' Hls].
  { injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | exact Hl]. }
  cbn [greatest] in H. set (x := maximum (z :: z' :: zs)). destruct (fresh s) as [y s1] eqn:Hf.
  injection H as <- <-. destruct (fresh_models v s x _ _ Hf Hm) as [Hm1 Hx]. exists [x]. split; [|exact Hx].
  pose proof (denote_all_more v [x] _ _ (Forall2_cons _ _ Hl (Forall2_cons _ _ Hl' Hls))) as Hall.
  destruct (maximum_greatest z (z' :: zs)) as (Hin & Hz & Hzs). fold (maximum (z :: z' :: zs)) in Hin, Hz, Hzs. fold x in Hin, Hz, Hzs.
  apply assume_models; [exact Hm1|]. apply both_true. constructor.
  - apply either_true. change (Exists (true_at (v ++ [x])) (map (at_most y) (l :: l' :: ls))).
    apply Exists_map.
    assert (Hex : Exists (Z.le x) (z :: z' :: zs)).
    { apply Exists_exists. exists x. split; [|lia]. destruct Hin as [-> | Hin]; [left; reflexivity | right; exact Hin]. }
    revert Hall Hex. apply related_exists. intros k y' Hk Hy. exact (at_most_true _ _ _ _ _ Hx Hk Hy).
  - change (Forall (true_at (v ++ [x])) (map (fun k => at_most k y) (l :: l' :: ls))).
    apply Forall_map. assert (Hfor : Forall (fun y => y <= x) (z :: z' :: zs)) by (constructor; assumption).
    revert Hall Hfor. apply related_forall. intros k y' Hk Hy. exact (at_most_true _ _ _ _ _ Hk Hx Hy).
Qed.

Lemma truncated_models : forall v s l d z q s', truncated l d s = (q, s') -> models v s -> denotes v l z ->
  exists w, models (v ++ w) s' /\ denotes (v ++ w) q (Z.quot z (Z.pos d)).
Proof.
  intros v s l d z q s' H Hm Hl. apply (divided_by_models v s l d Toward_zero _ z q s' H Hm Hl).
  intros w rest Hl' Hrest. cbn [divide] in Hrest. constructor; [|constructor].
  pose proof (denotes_number (v ++ w) (Z.pos d - 1)) as Hup.
  pose proof (Z.quot_rem z (Z.pos d) ltac:(lia)) as Hqr.
  apply either_true. destruct (Z_le_gt_dec 0 z) as [Hz | Hz].
  - pose proof (Z.rem_bound_pos z (Z.pos d) Hz ltac:(lia)) as Hb. left. apply both_true.
    repeat constructor; eapply denotes_above; eauto using denotes_minus; lia.
  - pose proof (Z.rem_bound_pos_neg z (Z.pos d) ltac:(lia) ltac:(lia)) as Hb. right. left. apply both_true.
    constructor; [|constructor; [|constructor; [|constructor]]].
    + exact (less_true _ _ _ _ _ Hl' (denotes_number _ 0) ltac:(lia)).
    + apply (denotes_above _ _ _ (denotes_times _ (-1) _ _ Hrest)). lia.
    + apply (denotes_above _ _ _ (denotes_plus _ _ _ _ _ Hup Hrest)). lia.
Qed.

(** *** The statement of both, and of lists *)

Definition linear_right (a : expr) : Prop := forall c e v s l s',
  linear c a s = (l, s') -> agrees e c v -> models v s ->
  exists w, models (v ++ w) s' /\ denotes (v ++ w) l (eval e a).

Definition literal_right (t : test) : Prop := forall c e v b s f s',
  literal c b t s = (f, s') -> agrees e c v -> models v s ->
  exists w, models (v ++ w) s' /\ (decide e t = b -> true_at (v ++ w) f).

Definition linear_list (c : scope) : list expr -> state -> list lin * state :=
  fix list l s :=
  match l with
  | [] => ([], s)
  | a :: l' => let (m, s1) := linear c a s in let (ms, s2) := list l' s1 in (m :: ms, s2)
  end.

Definition literal_list (c : scope) (b : bool) : list test -> state -> list fact * state :=
  fix list l s :=
  match l with
  | [] => ([], s)
  | t :: l' => let (f, s1) := literal c b t s in let (fs, s2) := list l' s1 in (f :: fs, s2)
  end.

Lemma linear_list_each : forall l, Forall linear_right l -> forall c e v s ls s',
  linear_list c l s = (ls, s') -> agrees e c v -> models v s ->
  exists w, models (v ++ w) s' /\ denote_all (v ++ w) ls (map (eval e) l).
Proof.
  induction 1 as [|a l Ha _ IH]; intros c e v s ls s' H Hc Hm; cbn [linear_list] in H.
  - injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | constructor].
  - destruct (linear c a s) as [m s1] eqn:H1. fold (linear_list c) in H. destruct (linear_list c l s1) as [ms s2] eqn:H2. injection H as <- <-.
    destruct (Ha _ _ _ _ _ _ H1 Hc Hm) as (w1 & Hm1 & Hd1).
    destruct (IH _ _ _ _ _ _ H2 (agrees_more _ _ _ w1 Hc) Hm1) as (w2 & Hm2 & Hd2).
    exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2|]. constructor; [apply denotes_more, Hd1 | exact Hd2].
Qed.

Lemma literal_list_each : forall l, Forall literal_right l -> forall c e v b s fs s',
  literal_list c b l s = (fs, s') -> agrees e c v -> models v s ->
  exists w, models (v ++ w) s' /\ Forall2 (fun t f => decide e t = b -> true_at (v ++ w) f) l fs.
Proof.
  induction 1 as [|t l Ht _ IH]; intros c e v b s fs s' H Hc Hm; cbn [literal_list] in H.
  - injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | constructor].
  - destruct (literal c b t s) as [f s1] eqn:H1. fold (literal_list c b) in H. destruct (literal_list c b l s1) as [gs s2] eqn:H2. injection H as <- <-.
    destruct (Ht _ _ _ _ _ _ _ H1 Hc Hm) as (w1 & Hm1 & Hd1).
    destruct (IH _ _ _ _ _ _ _ H2 (agrees_more _ _ _ w1 Hc) Hm1) as (w2 & Hm2 & Hd2).
    exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2|].
    constructor; [intros Hb; apply true_at_more, Hd1, Hb | exact Hd2].
Qed.

Lemma all_facts : forall e v b l fs, Forall2 (fun t f => decide e t = b -> true_at v f) l fs ->
  Forall (fun t => decide e t = b) l -> true_at v (both fs).
Proof.
  intros e v b l fs H Hl. apply both_true. induction H; inversion Hl; constructor; auto.
Qed.

Lemma some_fact : forall e v b l fs, Forall2 (fun t f => decide e t = b -> true_at v f) l fs ->
  Exists (fun t => decide e t = b) l -> true_at v (either fs).
Proof.
  intros e v b l fs H Hl. apply either_true. induction H; inversion Hl; subst; [left | right]; auto.
Qed.

Lemma forallb_true : forall e l, forallb (decide e) l = true -> Forall (fun t => decide e t = true) l.
Proof. intros e l H. apply Forall_forall. apply forallb_forall, H. Qed.

Lemma forallb_false : forall e l, forallb (decide e) l = false -> Exists (fun t => decide e t = false) l.
Proof.
  induction l as [|t l IH]; cbn [forallb]; [discriminate|]. intros H.
  apply andb_false_iff in H as [H | H]; [left | right]; auto.
Qed.

Lemma existsb_true : forall e l, existsb (decide e) l = true -> Exists (fun t => decide e t = true) l.
Proof. intros e l H. apply existsb_exists in H as (t & Hin & H). apply Exists_exists. eauto. Qed.

Lemma existsb_false : forall e l, existsb (decide e) l = false -> Forall (fun t => decide e t = false) l.
Proof.
  induction l as [|t l IH]; cbn [existsb]; [constructor|]. intros H.
  apply orb_false_iff in H as [H1 H2]. constructor; auto.
Qed.

Lemma both_right : (forall a, linear_right a) /\ (forall t, literal_right t).
Proof.
  pose (P := linear_right). pose (Q := literal_right).
  assert (case_int : forall z, P (Int z)).
  { intros z c e v s l s' H Hc Hm. cbn [linear] in H. injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | apply denotes_number]. }
  assert (case_var : forall x, P (Var x)).
  { intros x c e v s l s' H Hc Hm. cbn [linear] in H. injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | apply agrees_find, Hc]. }
  assert (case_sum : forall l, Forall P l -> P (Sum l)).
  { intros l Hl c e v s m s' H Hc Hm. cbn [linear] in H. fold (linear_list c) in H.
    destruct (linear_list c l s) as [ms s1] eqn:H1. injection H as <- <-.
    destruct (linear_list_each l Hl _ _ _ _ _ _ H1 Hc Hm) as (w & Hm1 & Hd). exists w. split; [exact Hm1|].
    apply denotes_sum, Hd. }
  assert (case_scaled : forall k a, P a -> P (Scaled k a)).
  { intros k a Ha c e v s m s' H Hc Hm. cbn [linear] in H. destruct (linear c a s) as [l s1] eqn:H1. injection H as <- <-.
    destruct (Ha _ _ _ _ _ _ H1 Hc Hm) as (w & Hm1 & Hd). exists w. split; [exact Hm1 | apply denotes_times, Hd]. }
  assert (case_floor : forall a d, P a -> P (FloorDiv a d)).
  { intros a d Ha c e v s m s' H Hc Hm. cbn [linear] in H. destruct (linear c a s) as [l s1] eqn:H1.
    destruct (Ha _ _ _ _ _ _ H1 Hc Hm) as (w & Hm1 & Hd).
    destruct (quotient_models _ _ _ _ _ _ _ H Hm1 Hd) as (w2 & Hm2 & Hd2).
    exists (w ++ w2). rewrite app_assoc. auto. }
  assert (case_trunc : forall a d, P a -> P (TruncDiv a d)).
  { intros a d Ha c e v s m s' H Hc Hm. cbn [linear] in H. destruct (linear c a s) as [l s1] eqn:H1.
    destruct (Ha _ _ _ _ _ _ H1 Hc Hm) as (w & Hm1 & Hd).
    destruct (truncated_models _ _ _ _ _ _ _ H Hm1 Hd) as (w2 & Hm2 & Hd2).
    exists (w ++ w2). rewrite app_assoc. auto. }
  assert (case_rem : forall a d, P a -> P (Rem a d)).
  { intros a d Ha c e v s m s' H Hc Hm. cbn [linear] in H. destruct (linear c a s) as [l s1] eqn:H1.
    destruct (truncated l d s1) as [q s2] eqn:H2. injection H as <- <-.
    destruct (Ha _ _ _ _ _ _ H1 Hc Hm) as (w & Hm1 & Hd).
    destruct (truncated_models _ _ _ _ _ _ _ H2 Hm1 Hd) as (w2 & Hm2 & Hd2).
    exists (w ++ w2). rewrite app_assoc. split; [exact Hm2|]. cbn [eval].
    rewrite Z.rem_eq by lia.
    apply denotes_minus; [apply denotes_more, Hd | apply denotes_times, Hd2]. }
  assert (case_min : forall l, Forall P l -> P (Min l)).
  { intros l Hl c e v s m s' H Hc Hm. cbn [linear] in H. fold (linear_list c) in H.
    destruct (linear_list c l s) as [ms s1] eqn:H1.
    destruct (linear_list_each l Hl _ _ _ _ _ _ H1 Hc Hm) as (w & Hm1 & Hd).
    destruct (least_models _ _ _ _ _ _ H Hm1 Hd) as (w2 & Hm2 & Hd2). exists (w ++ w2). rewrite app_assoc. auto. }
  assert (case_max : forall l, Forall P l -> P (Max l)).
  { intros l Hl c e v s m s' H Hc Hm. cbn [linear] in H. fold (linear_list c) in H.
    destruct (linear_list c l s) as [ms s1] eqn:H1.
    destruct (linear_list_each l Hl _ _ _ _ _ _ H1 Hc Hm) as (w & Hm1 & Hd).
    destruct (greatest_models _ _ _ _ _ _ H Hm1 Hd) as (w2 & Hm2 & Hd2). exists (w ++ w2). rewrite app_assoc. auto. }
  assert (case_select : forall t a b, Q t -> P a -> P b -> P (Select t a b)).
  { intros t a b Ht Ha Hb c e v s m s' H Hc Hm. cbn [linear] in H.
    destruct (literal c true t s) as [yes s1] eqn:H1. destruct (literal c false t s1) as [no s2] eqn:H2.
    destruct (linear c a s2) as [l s3] eqn:H3. destruct (linear c b s3) as [l' s4] eqn:H4.
    destruct (fresh s4) as [x s5] eqn:H5. injection H as <- <-.
    destruct (Ht _ _ _ _ _ _ _ H1 Hc Hm) as (w1 & Hm1 & Hd1).
    pose proof (agrees_more _ _ _ w1 Hc) as Hc1. destruct (Ht _ _ _ _ _ _ _ H2 Hc1 Hm1) as (w2 & Hm2 & Hd2).
    pose proof (agrees_more _ _ _ w2 Hc1) as Hc2. destruct (Ha _ _ _ _ _ _ H3 Hc2 Hm2) as (w3 & Hm3 & Hd3).
    pose proof (agrees_more _ _ _ w3 Hc2) as Hc3. destruct (Hb _ _ _ _ _ _ H4 Hc3 Hm3) as (w4 & Hm4 & Hd4).
    destruct (fresh_models _ _ (eval e (Select t a b)) _ _ H5 Hm4) as [Hm5 Hx].
    exists (w1 ++ w2 ++ w3 ++ w4 ++ [eval e (Select t a b)]). rewrite !app_assoc. split; [|exact Hx].
    apply assume_models; [exact Hm5|]. apply either_true. cbn [eval] in *.
    destruct (decide e t) eqn:Hdec.
    - left. apply both_true. constructor; [|constructor; [|constructor]].
      + do 4 apply true_at_more. apply Hd1. reflexivity.
      + refine (equal_true _ _ _ _ _ Hx _ eq_refl). do 2 apply denotes_more. exact Hd3.
    - right. left. apply both_true. constructor; [|constructor; [|constructor]].
      + do 3 apply true_at_more. apply Hd2. reflexivity.
      + refine (equal_true _ _ _ _ _ Hx _ eq_refl). apply denotes_more. exact Hd4. }
  assert (case_compare : forall r a b, P a -> P b -> Q (Compare r a b)).
  { intros r a b Ha Hb c e v y s f s' H Hc Hm. cbn [literal] in H.
    destruct (linear c a s) as [l s1] eqn:H1. destruct (linear c b s1) as [m s2] eqn:H2. injection H as <- <-.
    destruct (Ha _ _ _ _ _ _ H1 Hc Hm) as (w1 & Hm1 & Hd1).
    destruct (Hb _ _ _ _ _ _ H2 (agrees_more _ _ _ w1 Hc) Hm1) as (w2 & Hm2 & Hd2).
    exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2|]. cbn [decide]. intros Hdec.
    apply (compared_true _ _ _ (eval e a) (eval e b)); [apply denotes_more, Hd1 | exact Hd2|].
    destruct y; [exact Hdec | rewrite compare_opposite, Hdec; reflexivity]. }
  assert (case_and : forall l, Forall Q l -> Q (And l)).
  { intros l Hl c e v b s f s' H Hc Hm. cbn [literal] in H. fold (literal_list c b) in H.
    destruct (literal_list c b l s) as [fs s1] eqn:H1. injection H as <- <-.
    destruct (literal_list_each l Hl _ _ _ _ _ _ _ H1 Hc Hm) as (w & Hm1 & Hd). exists w. split; [exact Hm1|].
    cbn [decide]. intros Hdec. destruct b.
    - exact (all_facts _ _ _ _ _ Hd (forallb_true _ _ Hdec)).
    - exact (some_fact _ _ _ _ _ Hd (forallb_false _ _ Hdec)). }
  assert (case_or : forall l, Forall Q l -> Q (Or l)).
  { intros l Hl c e v b s f s' H Hc Hm. cbn [literal] in H. fold (literal_list c b) in H.
    destruct (literal_list c b l s) as [fs s1] eqn:H1. injection H as <- <-.
    destruct (literal_list_each l Hl _ _ _ _ _ _ _ H1 Hc Hm) as (w & Hm1 & Hd). exists w. split; [exact Hm1|].
    cbn [decide]. intros Hdec. destruct b.
    - exact (some_fact _ _ _ _ _ Hd (existsb_true _ _ Hdec)).
    - exact (all_facts _ _ _ _ _ Hd (existsb_false _ _ Hdec)). }
  assert (case_not : forall t, Q t -> Q (Not t)).
  { intros t Ht c e v b s f s' H Hc Hm. cbn [literal] in H.
    destruct (Ht _ _ _ _ _ _ _ H Hc Hm) as (w & Hm1 & Hd). exists w. split; [exact Hm1|].
    cbn [decide]. intros Hdec. apply Hd. rewrite <- Hdec, negb_involutive. reflexivity. }
  split.
  - exact (expr_induction P Q case_int case_var case_sum case_scaled case_floor case_trunc case_rem case_min
      case_max case_select case_compare case_and case_or case_not).
  - exact (test_induction P Q case_int case_var case_sum case_scaled case_floor case_trunc case_rem case_min
      case_max case_select case_compare case_and case_or case_not).
Qed.

Theorem linear_models : forall a, linear_right a.
Proof. exact (proj1 both_right). Qed.

Theorem literal_models : forall t, literal_right t.
Proof. exact (proj2 both_right). Qed.

(** ** Minima and maxima in comparisons

    [x <= min (a, b)] is [x <= a] and [x <= b]: no variable is needed. *)

Definition on_right (r : relation) (a : expr) : expr -> test :=
  fix go b :=
    match b with
    | Min (b' :: l) => And (go b' :: map go l)
    | Max (b' :: l) => Or (go b' :: map go l)
    | _ => Compare r a b
    end.

Definition on_left (r : relation) (b : expr) : expr -> test :=
  fix go a :=
    match a with
    | Max (a' :: l) => And (go a' :: map go l)
    | Min (a' :: l) => Or (go a' :: map go l)
    | _ => on_right r a b
    end.

Fixpoint expanded (t : test) : test :=
  match t with
  | Compare LE a b => on_left LE b a
  | Compare LT a b => on_left LT b a
  | Compare GE a b => on_left LE a b
  | Compare GT a b => on_left LT a b
  | Compare r a b => Compare r a b
  | And l => And (map expanded l)
  | Or l => Or (map expanded l)
  | Not u => Not (expanded u)
  end.

Definition upward (r : relation) : Prop := r = LE \/ r = LT.

Lemma below_minimum : forall r x z zs, upward r ->
  compare r x (fold_left Z.min zs z) = forallb (compare r x) (z :: zs).
Proof.
  intros r x z zs Hr. revert z. induction zs as [|y zs IH]; intros z; cbn [fold_left forallb].
  - rewrite andb_true_r. reflexivity.
  - rewrite IH. cbn [forallb]. rewrite andb_assoc. f_equal. destruct Hr as [-> | ->]; cbn [compare]; lia.
Qed.

Lemma below_maximum : forall r x z zs, upward r ->
  compare r x (fold_left Z.max zs z) = existsb (compare r x) (z :: zs).
Proof.
  intros r x z zs Hr. revert z. induction zs as [|y zs IH]; intros z; cbn [fold_left existsb].
  - rewrite orb_false_r. reflexivity.
  - rewrite IH. cbn [existsb]. rewrite orb_assoc. f_equal. destruct Hr as [-> | ->]; cbn [compare]; lia.
Qed.

Lemma above_maximum : forall r x z zs, upward r ->
  compare r (fold_left Z.max zs z) x = forallb (fun y => compare r y x) (z :: zs).
Proof.
  intros r x z zs Hr. revert z. induction zs as [|y zs IH]; intros z; cbn [fold_left forallb].
  - rewrite andb_true_r. reflexivity.
  - rewrite IH. cbn [forallb]. rewrite andb_assoc. f_equal. destruct Hr as [-> | ->]; cbn [compare]; lia.
Qed.

Lemma above_minimum : forall r x z zs, upward r ->
  compare r (fold_left Z.min zs z) x = existsb (fun y => compare r y x) (z :: zs).
Proof.
  intros r x z zs Hr. revert z. induction zs as [|y zs IH]; intros z; cbn [fold_left existsb].
  - rewrite orb_false_r. reflexivity.
  - rewrite IH. cbn [existsb]. rewrite orb_assoc. f_equal. destruct Hr as [-> | ->]; cbn [compare]; lia.
Qed.

Lemma forallb_list : forall (f : test -> bool) (g : Z -> bool) (h : expr -> test) e l,
  Forall (fun a => f (h a) = g (eval e a)) l -> forallb f (map h l) = forallb g (map (eval e) l).
Proof. intros f g h e l H. induction H as [|a l Ha _ IH]; cbn [map forallb]; [reflexivity | rewrite Ha, IH; reflexivity]. Qed.

Lemma existsb_list : forall (f : test -> bool) (g : Z -> bool) (h : expr -> test) e l,
  Forall (fun a => f (h a) = g (eval e a)) l -> existsb f (map h l) = existsb g (map (eval e) l).
Proof. intros f g h e l H. induction H as [|a l Ha _ IH]; cbn [map existsb]; [reflexivity | rewrite Ha, IH; reflexivity]. Qed.

Lemma on_right_same : forall r e a, upward r -> forall b, decide e (on_right r a b) = compare r (eval e a) (eval e b).
Proof.
  intros r e a Hr.
  apply (expr_induction (fun b => decide e (on_right r a b) = compare r (eval e a) (eval e b)) (fun _ => True)); auto.
  - intros [|b l] Hl; [reflexivity|]. inversion Hl; subst.
    change (decide e (And (map (on_right r a) (b :: l))) = compare r (eval e a) (minimum (map (eval e) (b :: l)))).
    cbn [decide]. rewrite (forallb_list _ (compare r (eval e a)) _ e _ Hl). cbn [map minimum].
    rewrite below_minimum by exact Hr. reflexivity.
  - intros [|b l] Hl; [reflexivity|]. inversion Hl; subst.
    change (decide e (Or (map (on_right r a) (b :: l))) = compare r (eval e a) (maximum (map (eval e) (b :: l)))).
    cbn [decide]. rewrite (existsb_list _ (compare r (eval e a)) _ e _ Hl). cbn [map maximum].
    rewrite below_maximum by exact Hr. reflexivity.
Qed.

Lemma on_left_same : forall r e b, upward r -> forall a, decide e (on_left r b a) = compare r (eval e a) (eval e b).
Proof.
  intros r e b Hr.
  apply (expr_induction (fun a => decide e (on_left r b a) = compare r (eval e a) (eval e b)) (fun _ => True)); auto;
    try (intros; apply (on_right_same r e); exact Hr).
  - intros [|a l] Hl; [apply (on_right_same r e _ Hr)|].
    change (decide e (Or (map (on_left r b) (a :: l))) = compare r (minimum (map (eval e) (a :: l))) (eval e b)).
    cbn [decide]. rewrite (existsb_list _ (fun y => compare r y (eval e b)) _ e _ Hl). cbn [map minimum].
    rewrite above_minimum by exact Hr. reflexivity.
  - intros [|a l] Hl; [apply (on_right_same r e _ Hr)|].
    change (decide e (And (map (on_left r b) (a :: l))) = compare r (maximum (map (eval e) (a :: l))) (eval e b)).
    cbn [decide]. rewrite (forallb_list _ (fun y => compare r y (eval e b)) _ e _ Hl). cbn [map maximum].
    rewrite above_maximum by exact Hr. reflexivity.
Qed.

Lemma expanded_same : forall e t, decide e (expanded t) = decide e t.
Proof.
  intros e. apply (test_induction (fun _ => True) (fun t => decide e (expanded t) = decide e t)); auto.
  - intros [] a b _ _; cbn [expanded decide]; try reflexivity; rewrite on_left_same; unfold upward; auto.
  - intros l Hl. cbn [expanded decide]. induction Hl as [|t l Ht _ IH]; cbn [map forallb]; [reflexivity | rewrite Ht, IH; reflexivity].
  - intros l Hl. cbn [expanded decide]. induction Hl as [|t l Ht _ IH]; cbn [map existsb]; [reflexivity | rewrite Ht, IH; reflexivity].
  - intros t Ht. cbn [expanded decide]. rewrite Ht. reflexivity.
Qed.

(** What is known when the test [t] has the value [b]. *)
Definition known (c : scope) (b : bool) (t : test) (s : state) : fact * state := literal c b (expanded t) s.

Theorem known_models : forall t c e v b s f s',
  known c b t s = (f, s') -> agrees e c v -> models v s ->
  exists w, models (v ++ w) s' /\ (decide e t = b -> true_at (v ++ w) f).
Proof.
  intros t c e v b s f s' H Hc Hm. destruct (literal_models _ _ _ _ _ _ _ _ H Hc Hm) as (w & Hm1 & Hf).
  exists w. split; [exact Hm1|]. rewrite expanded_same in Hf. exact Hf.
Qed.

Corollary linear_list_models : forall l c e v s ls s',
  linear_list c l s = (ls, s') -> agrees e c v -> models v s ->
  exists w, models (v ++ w) s' /\ denote_all (v ++ w) ls (map (eval e) l).
Proof. intros l. apply linear_list_each, Forall_forall. intros a _. apply linear_models. Qed.

(** [a <= l], or not; where [a] is a maximum, one comparison for each of its parts. *)
Fixpoint maxima (a : expr) : list expr :=
  match a with
  | Max (a' :: l) => maxima a' ++ flat_map maxima l
  | _ => [a]
  end.

Lemma maxima_below : forall e z a, (eval e a <=? z) = forallb (fun x => eval e x <=? z) (maxima a).
Proof.
  intros e z.
  apply (expr_induction (fun a => (eval e a <=? z) = forallb (fun x => eval e x <=? z) (maxima a)) (fun _ => True));
    auto; try (intros; cbn [maxima forallb]; rewrite andb_true_r; reflexivity).
  intros [|a l] Hl; [cbn [maxima forallb]; rewrite andb_true_r; reflexivity|].
  change (maxima (Max (a :: l))) with (flat_map maxima (a :: l)).
  change (eval e (Max (a :: l)) <=? z) with (compare LE (fold_left Z.max (map (eval e) l) (eval e a)) z).
  rewrite above_maximum by (left; reflexivity).
  change (eval e a :: map (eval e) l) with (map (eval e) (a :: l)). cbn [compare].
  induction Hl as [|b k Hb _ IH]; [reflexivity|]. cbn [map forallb flat_map]. rewrite forallb_app, <- Hb, <- IH. reflexivity.
Qed.

Definition start_below (b : bool) (c : scope) (l : lin) (a : expr) (s : state) : fact * state :=
  let (ms, s1) := linear_list c (maxima a) s in
  ((if b then both (map (fun m => at_most m l) ms) else either (map (less l) ms)), s1).

Lemma start_below_models : forall b c e l z a v s f s',
  start_below b c l a s = (f, s') -> agrees e c v -> models v s -> denotes v l z ->
  exists w, models (v ++ w) s' /\ ((eval e a <=? z) = b -> true_at (v ++ w) f).
Proof.
  intros b c e l z a v s f s' H Hc Hm Hl. unfold start_below in H.
  destruct (linear_list c (maxima a) s) as [ms s1] eqn:E. injection H as <- <-.
  destruct (linear_list_models _ _ _ _ _ _ _ E Hc Hm) as (w & Hm1 & Hms). exists w. split; [exact Hm1|].
  rewrite maxima_below. pose proof (denotes_more _ w _ _ Hl) as Hl'. clear E.
  unfold denote_all in Hms. remember (map (eval e) (maxima a)) as zs eqn:Hzs.
  assert (Hb : forallb (fun x => eval e x <=? z) (maxima a) = forallb (fun y => y <=? z) zs).
  { subst zs. clear. induction (maxima a) as [|x k IH]; [reflexivity|]. cbn [map forallb]. rewrite IH. reflexivity. }
  rewrite Hb. clear Hb Hzs. destruct b; intros Hb.
  - apply both_true, Forall_map. induction Hms as [|m y ms zs Hy _ IH]; [constructor|]. cbn [forallb] in Hb.
    apply andb_prop in Hb as [H1 H2]. constructor; [apply (at_most_true _ _ _ _ _ Hy Hl'); lia | auto].
  - apply either_true, Exists_map. induction Hms as [|m y ms zs Hy _ IH]; [discriminate|]. cbn [forallb] in Hb.
    apply andb_false_iff in Hb as [H1 | H2]; [left; apply (less_true _ _ _ _ _ Hl' Hy); lia | right; auto].
Qed.
