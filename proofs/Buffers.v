(** * Buffers of products, and buffers of which each iteration has its own

    A buffer may hold products of cells that nothing writes.  To the checker of
    [Stored.v] such a product is a cell of an array that does not exist, and
    the statement that computes it into the buffer is a copy of that cell.  An
    iteration of a parallel loop may have a buffer of its own: its cells have the
    tag of the iteration ([Private.v]) before their subscripts.  If
    [check_buffered] says [true], tags tell iterations apart, and the original and
    the new program leave the same memory, where instances compute the same from
    the same operands, whatever products are ([buffered_same_values]). *)

From Coq Require Import ZArith List String Bool.
From Loopwright Require Import Loop Scope Poly Formulas Reduction Memory Transformation Parallel Private Counting.
From Loopwright Require Import Linear Symbolic Specification Conditions Walk Checker Changes Temporaries Reused Values Accounting Stored Text Divided.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** Products *)

(** The name of an array that does not exist, names for its subscripts, and the
    cells that are multiplied, or whatever is computed from them. *)
Definition product := (string * (list string * list place))%type.

Definition product_named (l : list product) (x : string) : option product := List.find (fun q : product => String.eqb x (fst q)) l.

Definition is_product (l : list product) (x : string) : bool := match product_named l x with Some _ => true | None => false end.

(** The value of an operand: of a product by [g], of another cell from the memory. *)
Definition operand {value : Type} (l : list product) (g : string -> list value -> value) (m : memory value) (c : cell) : value :=
  match product_named l (fst c) with
  | Some (x, (names, places)) => g x (map (fun p => m (place_at (combine names (snd c)) p)) places)
  | None => m c
  end.

(** What instances do, if [f] has the values that they write, by their operands. *)
Definition by_operands {value : Type} (q : list product) (l : list (shape * use)) (e : env) (g : string -> list value -> value)
    (f : event -> list value -> nat -> value) (ev : event) (m : memory value) : memory value := fun c =>
  match position c (cells_in l may_write e ev) with
  | Some k => f ev (map (operand q g m) (cells_in l may_read e ev)) k
  | None => m c
  end.

Definition is_written (l : list (shape * use)) (x : string) : bool :=
  existsb (fun hu : shape * use => existsb (fun c : place => String.eqb x (fst c)) (may_write (snd hu))) l.

(** Nothing writes a product, or what it is computed from. *)
Definition constant_products (q : list product) (l : list (shape * use)) : bool :=
  forallb (fun one : product => negb (is_written l (fst one)) && forallb (fun c : place => negb (is_written l (fst c))) (snd (snd one))) q.

Lemma not_written : forall l e ev c, is_written l (fst c) = false -> position c (cells_in l may_write e ev) = None.
Proof.
  intros l e ev c H. destruct (position c (cells_in l may_write e ev)) as [k|] eqn:E; [|reflexivity]. exfalso.
  apply position_in in E. unfold cells_in in E. destruct (List.find _ l) as [[h u]|] eqn:Ef; [|destruct E].
  apply List.find_some in Ef as [Hin _]. apply in_map_iff in E as (p & Hp & Hw).
  assert (Hyes : is_written l (fst c) = true).
  { unfold is_written. apply existsb_exists. exists (h, u). split; [exact Hin|]. apply existsb_exists. exists p. split; [exact Hw|].
    rewrite <- Hp. cbn [place_at fst]. apply String.eqb_refl. }
  congruence.
Qed.

Section Operands.
  Variable value : Type.
  Variable q : list product.
  Variable l : list (shape * use).
  Variable e : env.
  Variable g : string -> list value -> value.
  Variable f : event -> list value -> nat -> value.
  Hypothesis constant : constant_products q l = true.

  Lemma operands_step : forall ev (m n : memory value), (forall c, n c = operand q g m c) ->
    forall c, by_values l e f ev n c = operand q g (by_operands q l e g f ev m) c.
  Proof.
    intros ev m n Hn c. unfold by_values, put. rewrite (map_ext _ _ Hn). unfold operand at 2.
    destruct (product_named q (fst c)) as [[x [names places]]|] eqn:Ep.
    - pose proof Ep as Eq. unfold product_named in Eq. apply List.find_some in Eq as [Hin Hx]. cbn [fst] in Hx. apply String.eqb_eq in Hx.
      unfold constant_products in constant. rewrite forallb_forall in constant. specialize (constant _ Hin). cbn [fst snd] in constant.
      apply andb_prop in constant as [Hname Hplaces]. apply negb_true_iff in Hname. rewrite <- Hx in Hname.
      rewrite (not_written l e ev c Hname), Hn. unfold operand. rewrite Ep. f_equal. apply map_ext_in. intros p Hp.
      rewrite forallb_forall in Hplaces. specialize (Hplaces p Hp). apply negb_true_iff in Hplaces. unfold by_operands.
      rewrite (not_written l e ev (place_at (combine names (snd c)) p) Hplaces). reflexivity.
    - unfold by_operands. destruct (position c _); [reflexivity|]. rewrite Hn. unfold operand. rewrite Ep. reflexivity.
  Qed.

  Lemma operands_run : forall t (m n : memory value), (forall c, n c = operand q g m c) ->
    forall c, run (by_values l e f) t n c = operand q g (run (by_operands q l e g f) t m) c.
  Proof.
    induction t as [|ev t IH]; intros m n Hn c; [exact (Hn c)|]. cbn [run fold_left].
    apply (IH (by_operands q l e g f ev m) (by_values l e f ev n)). exact (operands_step ev m n Hn).
  Qed.
End Operands.

(** ** Buffers of iterations *)

Definition own_copy (S : storage) (tc : list expr * copy) : copy :=
  Copy (copied (snd tc)) (own_place S (fst tc) (copied_from (snd tc))) (own_place S (fst tc) (copied_to (snd tc))).

(** The new program with a buffer for each tag; the tags of copies follow those of the other statements. *)
Definition owning (U : stored) (S : storage) : stored :=
  Stored (written U) (middle_times U) (uses_before U) (map (own_use S) (combine (tags S) (uses_after U))) (copying U)
    (map (own_copy S) (combine (skipn (List.length (uses_after U)) (tags S)) (copies U))) (last_times U) (replaced_arrays U) (seen U) (left U).

(** How many parallel loops are to be entered until the one whose iterations have
    their own: so many below here, or another number in each part of a block. *)
Inductive level := Entered (k : nat) | Parts (l : list level).

(** Buffers, and in which loops iterations have their own. *)
Definition layered := (level * storage)%type.

Definition owning_all (U : stored) (Ss : list layered) : stored := fold_left (fun V (kS : layered) => owning V (snd kS)) Ss U.

Lemma owning_alike : forall Ss U, let V := owning_all U Ss in
  written V = written U /\ as_written V = as_written U /\ copying V = copying U /\ is_compared V = is_compared U.
Proof.
  unfold owning_all. induction Ss as [|S Ss IH]; intros U; [repeat split|]. cbn [fold_left].
  destruct (IH (owning U (snd S))) as (-> & -> & -> & ->). repeat split.
Qed.

(** [tagged], where the number of loops differs. *)
Fixpoint tagged_by (tag : event -> list Z) (l : level) (way : list Z) (e : env) (n : node) : Prop :=
  match l with
  | Entered k => tagged tag k false way e n
  | Parts ls =>
      match n with
      | Block ns =>
          (fix each (k : Z) (ns : list node) (ls : list level) : Prop :=
             match ns, ls with
             | [], _ => True
             | n' :: ns', l' :: ls' => tagged_by tag l' (way ++ [k]) e n' /\ each (k + 1) ns' ls'
             | _ :: _, [] => False
             end) 0 ns ls
      | If t a b => (holds e t -> tagged_by tag l way e a) /\ (~ holds e t -> tagged_by tag l way e b)
      | _ => False
      end
  end.

Fixpoint level_goals (parts : list part) (c0 : scope) (l : level) (way : list lin) (c : scope) (s : state) (n : node) : list goal :=
  match l with
  | Entered k => tag_goals parts c0 k false way c s n
  | Parts ls =>
      match n with
      | Block ns =>
          (fix each (k : Z) (ns : list node) (ls : list level) : list goal :=
             match ns, ls with
             | [], _ => []
             | n' :: ns', l' :: ls' => level_goals parts c0 l' (way ++ [number k]) c s n' ++ each (k + 1) ns' ls'
             | _ :: _, [] => unfit
             end) 0 ns ls
      | If t a b =>
          let (f, s1) := known c true t s in let (f', s1') := known c false t s in
          level_goals parts c0 l way c (assume f s1) a ++ level_goals parts c0 l way c (assume f' s1') b
      | _ => unfit
      end
  end.

Lemma level_goals_sound : forall T S e c0 n l way c s en v z, Forall refuted (level_goals (all_parts T S) c0 l way c s n) ->
  agrees en c v -> agrees e c0 v -> models v s -> denote_all v way z -> tagged_by (tag_of T S e) l z en n.
Proof.
  intros T S e c0. induction n as [f args hint|ns IH|t a b IHa IHb|x a t d b IHb|x a b IHb|text b IHb] using node_induction;
    intros [k|ls] way c s en v z H Hc Hp Hm Hz; cbn [level_goals tagged_by] in *;
    try exact (tag_goals_sound T S e c0 _ _ _ _ _ _ _ _ _ H Hc Hp Hm Hz); try (destruct (unfit_false H)).
  - revert ls H. generalize 0 as k. induction IH as [|n ns Hn _ IHns]; intros k ls H; [exact I|].
    destruct ls as [|l ls]; [destruct (unfit_false H)|]. apply Forall_app in H as [H1 H2]. split; [|exact (IHns (k + 1) ls H2)].
    apply (Hn _ _ _ _ _ _ _ H1 Hc Hp Hm). apply denote_all_app; [exact Hz | constructor; [apply denotes_number | constructor]].
  - destruct (known c true t s) as [f s1] eqn:E1. destruct (known c false t s) as [f' s1'] eqn:E1'.
    apply Forall_app in H as [H1 H2]. split; intros Ht.
    + destruct (known_models _ _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hf). apply decide_holds in Ht.
      exact (IHa _ _ _ _ _ _ _ H1 (agrees_more _ _ _ w Hc) (agrees_more _ _ _ w Hp) (assume_models _ _ _ Hm1 (Hf Ht)) (denote_all_more _ w _ _ Hz)).
    + destruct (known_models _ _ _ _ _ _ _ _ E1' Hc Hm) as (w & Hm1 & Hf). apply decide_fails in Ht.
      exact (IHb _ _ _ _ _ _ _ H2 (agrees_more _ _ _ w Hc) (agrees_more _ _ _ w Hp) (assume_models _ _ _ Hm1 (Hf Ht)) (denote_all_more _ w _ _ Hz)).
Qed.

Definition tags_goals (U : stored) (n : node) (kS : layered) : list goal :=
  let T := last_change U in
  let (c, s) := beginning (original T) in level_goals (all_parts T (snd kS)) c (fst kS) [] c s n.

Definition buffer_goals (U : stored) (Ss : list layered) (n : node) : list goal := flat_map (tags_goals U n) Ss.

(** ** The check *)

Definition check_buffered (U : stored) (Ss : list layered) (q : list product) (r : division) (p : source) (n : counted) (p' : source)
    (how how' : proposal) (cs : list certificate) : bool :=
  let V := owning_all U Ss in
  match readable (sizes (written U)) p' with
  | Some n' =>
      let gs := buffer_goals U Ss (lowered n') in
      let k := List.length gs in
      forallb (fun kS : layered => fitting (last_change U) (snd kS) && forallb (fun x => negb (is_compared U x)) (temporaries (snd kS))) Ss &&
      constant_products q (as_written U) && constant_products q (as_stored V) &&
      forallb (fun one : product => forallb (fun c : place => is_compared U (fst c) && negb (is_product q (fst c))) (snd (snd one))) q &&
      refutes_all (firstn k cs) gs && check_divided V r p n p' how how' (skipn k cs)
  | None => false
  end.

(** The tags of the buffers are iterations; and both end and leave the same, where
    instances and parts compute the same from the same operands and copies copy. *)
Definition texts_the_same_buffered (U : stored) (Ss : list layered) (q : list product) (r : division) (e : env) (n n' : counted) : Prop :=
  Forall (fun kS : layered => tagged_by (tag_of (last_change U) (snd kS) e) (fst kS) [] e (lowered n')) Ss /\
  exists t, counts e n t /\ (exists t', counts e n' t') /\
  forall t', may_count e n' t' ->
  forall (value : Type) (g : string -> list value -> value) (f : event -> list value -> nat -> value),
  (forall ev x, named (copying U) ev = true -> f ev [x] 0%nat = x) ->
  forall m m' : memory value, (forall c, is_compared U (fst c) = true -> is_product q (fst c) = false -> m c = m' c) ->
  forall c, is_compared U (fst c) = true -> is_product q (fst c) = false ->
  run (by_operands q (as_written U) e g f) t m c =
  run (by_operands q (as_stored (owning_all U Ss)) e g (fun ev => f (undivided r ev))) t' m' c.

Lemma no_product : forall (value : Type) q (g : string -> list value -> value) m c, is_product q (fst c) = false -> operand q g m c = m c.
Proof. intros value q g m c H. unfold is_product in H. unfold operand. destruct (product_named q (fst c)); [discriminate | reflexivity]. Qed.

Theorem buffered_same_values : forall U Ss q r p n p' how how' cs, check_buffered U Ss q r p n p' how how' cs = true ->
  for_stored everywhere U p p' (texts_the_same_buffered U Ss q r).
Proof.
  intros U Ss q r p n p' how how' cs H. unfold check_buffered in H. destruct (readable (sizes (written U)) p') as [k'|] eqn:Er; [|discriminate].
  apply andb_prop in H as [H Hcheck]. apply andb_prop in H as [H Htags]. apply andb_prop in H as [H Hparts].
  apply andb_prop in H as [H Hnew]. apply andb_prop in H as [_ Hold].
  destruct (owning_alike Ss U) as (Hwritten & Has & Hcopying & Hcompared). set (V := owning_all U Ss) in *.
  destruct (divided_same_values _ _ _ _ _ _ _ _ Hcheck) as (Hsaid & m & n' & Hm & Hn' & Hsame). rewrite Hwritten in Hm, Hn'.
  split; [rewrite Hwritten, Has in Hsaid; exact Hsaid|]. exists m, n'. split; [exact Hm | split; [exact Hn'|]]. intros z Hz. rewrite Hwritten in Hsame. specialize (Hsame z Hz).
  set (e := environment (meant (written U)) z) in *. apply readable_proper in Er as [Er _].
  assert (k' = n') by congruence. subst k'. split.
  - apply refutes_all_sound in Htags. apply Forall_forall. intros kS Hin.
    assert (Hone : Forall refuted (tags_goals U (lowered n') kS)).
    { apply Forall_forall. intros gl Hgl. rewrite Forall_forall in Htags. apply Htags. apply in_flat_map. exists kS. auto. }
    unfold tags_goals in Hone. destruct (beginning (original (last_change U))) as [c s] eqn:Eb.
    destruct (beginning_models _ z _ _ Eb Hz) as (v & Hv & Hc). change (environment (meant (original (last_change U))) z) with e in Hc.
    exact (level_goals_sound (last_change U) (snd kS) e c _ _ _ _ _ _ _ _ Hone Hc Hc Hv (Forall2_nil _)).
  - destruct Hsame as (t & Ht & Hend & Hany). exists t. split; [exact Ht | split; [exact Hend|]].
    intros t' Ht' value g f Hf m0 m1 H0 c Hc Hp.
    specialize (Hany t' Ht' value f). rewrite Hcopying, Hcompared, Has in Hany.
    specialize (Hany Hf (operand q g m0) (operand q g m1)).
    pose proof (operands_run value q (as_written U) e g f Hold t m0 (operand q g m0) (fun _ => eq_refl) c) as Hleft.
    pose proof (operands_run value q (as_stored V) e g (fun ev => f (undivided r ev)) Hnew t' m1 (operand q g m1) (fun _ => eq_refl) c) as Hright.
    rewrite (no_product _ _ _ _ _ Hp) in Hleft. rewrite (no_product _ _ _ _ _ Hp) in Hright. fold V. rewrite <- Hleft, <- Hright.
    apply Hany; [|exact Hc]. intros d Hd. unfold operand. destruct (product_named q (fst d)) as [[x [names places]]|] eqn:Ep.
    + f_equal. apply map_ext_in. intros pl Hpl. unfold product_named in Ep. apply List.find_some in Ep as [Hin _].
      rewrite forallb_forall in Hparts. specialize (Hparts _ Hin). cbn [snd] in Hparts. rewrite forallb_forall in Hparts.
      specialize (Hparts pl Hpl). apply andb_prop in Hparts as [H1 H2]. apply negb_true_iff in H2. apply H0; [exact H1 | exact H2].
    + apply H0; [exact Hd|]. unfold is_product. rewrite Ep. reflexivity.
Qed.
