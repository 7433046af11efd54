(** * Legality, one pair of accesses at a time

    [legal] speaks of all cells that two instances may touch.  Where accesses
    are lists of cells, a conflict is a pair of accesses to the same array with
    equal subscripts; pairs of accesses to different arrays are dropped by
    computing. *)

From Coq Require Import ZArith List String.
From Loopwright Require Import Loop Lexicographic Poly Memory Transformation Formulas Reduction.
Import ListNotations.
Open Scope Z_scope.

(** The subscripts of accesses to the same array. *)
Definition subscripts (l m : list cell) : list (list Z * list Z) :=
  flat_map (fun c => flat_map (fun d =>
    if String.eqb (fst c) (fst d) then [(snd c, snd d)] else []) m) l.

(** The two sets of cells may have one in common. *)
Definition meet (l m : option (list cell)) : Prop :=
  match l, m with
  | Some l, Some m => any (map (fun p => fst p = snd p) (subscripts l m))
  | _, _ => True
  end.

Definition meeting (l : list access) (a b : event) : Prop :=
  meet (cells_of writes_of l a) (cells_of writes_of l b) \/
  meet (cells_of writes_of l a) (cells_of reads_of l b) \/
  meet (cells_of reads_of l a) (cells_of writes_of l b).

Lemma any_in : forall A (f : A -> Prop) l x, In x l -> f x -> any (map f l).
Proof.
  induction l as [|y l IH]; intros x [] Hx; cbn; [subst; auto | right; eapply IH; eauto].
Qed.

Lemma all_map_impl : forall A (f g : A -> Prop) l,
  (forall x, f x -> g x) -> all (map f l) -> all (map g l).
Proof.
  intros A f g l Hfg. induction l as [|x l IH]; [auto|].
  cbn [map]. rewrite !all_cons. intros [H1 H2]. auto.
Qed.

Lemma common_cell_meets : forall l m c, touches l c -> touches m c -> meet l m.
Proof.
  intros [l|] [m|] c Hl Hm; cbn in *; auto.
  apply (any_in _ _ _ (snd c, snd c)); [|reflexivity].
  unfold subscripts. apply in_flat_map. exists c. split; [exact Hl|].
  apply in_flat_map. exists c. split; [exact Hm|]. rewrite String.eqb_refl. left. reflexivity.
Qed.

Lemma conflicting_meet : forall l a b, conflicting (accesses_of l) a b -> meeting l a b.
Proof.
  intros l a b [c [(Ha & Hb & _) | [[Ha Hb] | [Ha Hb]]]]; unfold meeting.
  - left. exact (common_cell_meets _ _ c Ha Hb).
  - right. left. exact (common_cell_meets _ _ c Ha Hb).
  - right. right. exact (common_cell_meets _ _ c Ha Hb).
Qed.

(** What has to hold of two instances that meet. *)
Definition kept_apart (P P' : poly) (a b : event) : Prop :=
  (time_of P a = time_of P b -> a = b) /\
  (lex_lt (time_of P a) (time_of P b) -> lex_lt (time_of P' a) (time_of P' b)).

(** For each pair of statements, all their instances.  [m], [Q] and [Q'] are
    [l], [P] and [P'] under other names, so that they can stay folded. *)
Theorem legal_by_pairs : forall l m P P' Q Q', m = l -> Q = P -> Q' = P' ->
  (forall ev, scheduled P ev <-> scheduled P' ev) ->
  all (map (fun s => forall x h, domain s x h ->
    all (map (fun s' => forall y k, domain s' y k ->
      meeting m (Event (name s) x h) (Event (name s') y k) ->
      kept_apart Q Q' (Event (name s) x h) (Event (name s') y k)) P)) P) ->
  legal (accesses_of l) P P'.
Proof.
  intros l m P P' Q Q' -> -> -> Hsame H.
  assert (Hpairs : forall a b, scheduled P a -> scheduled P b -> meeting l a b -> kept_apart P P' a b).
  { intros a b Ha Hb. revert b Hb.
    apply (for_each_statement P (fun a => forall b, scheduled P b -> meeting l a b -> kept_apart P P' a b));
      [|exact Ha].
    revert H. apply all_map_impl. intros s H1 x h Hx.
    exact (for_each_statement P
      (fun b => meeting l (Event (name s) x h) b -> kept_apart P P' (Event (name s) x h) b) (H1 x h Hx)). }
  constructor; [exact Hsame | |]; intros a b Ha Hb Hc; apply conflicting_meet in Hc;
    destruct (Hpairs a b Ha Hb Hc) as [Hequal Hless]; assumption.
Qed.
