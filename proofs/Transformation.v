(** * A legal transformation leaves the same memory *)

From Coq Require Import ZArith List String Sorted Permutation.
From Loopwright Require Import Loop Lexicographic Poly Memory.
Import ListNotations.
Open Scope Z_scope.

Arguments conflict {operation}.
Arguments respects {operation} {value}.
Arguments run {operation} {value}.
Arguments same {value}.
Arguments precedes {operation}.

(** Which cells each instance may read and may write, and by which operator it
    combines values into the cells that it writes, if it does. *)
Record accesses := Accesses {
  reads : event -> cell -> Prop;
  writes : event -> cell -> Prop;
  combines : event -> option string
}.

(** Accesses given statement by statement, as lists of cells.  A statement that
    is not in the list is taken to read and write everything; none combines. *)
Record access := Access {
  statement_name : string;
  reads_of : list Z -> list cell;
  writes_of : list Z -> list cell
}.

Fixpoint cells_of (pick : access -> list Z -> list cell) (l : list access) (ev : event)
    : option (list cell) :=
  match l with
  | [] => None
  | a :: l' =>
      if String.eqb (name_of ev) (statement_name a)
      then Some (pick a (arguments_of ev))
      else cells_of pick l' ev
  end.

Definition touches (cells : option (list cell)) (c : cell) : Prop :=
  match cells with
  | Some l => In c l
  | None => True
  end.

Definition accesses_of (l : list access) : accesses :=
  Accesses (fun ev => touches (cells_of reads_of l ev)) (fun ev => touches (cells_of writes_of l ev)) (fun _ => None).

Definition conflicting (A : accesses) : event -> event -> Prop := conflict (reads A) (writes A) (combines A).

(** What the instances do to the memory is as stated, values being combined by
    [combine], in any order. *)
Definition obeys {value : Type} (A : accesses) (combine : string -> value -> value -> value)
    (effect : event -> memory value -> memory value) : Prop :=
  respects (reads A) (writes A) (combines A) combine effect.

(** Replacing the schedule of [P] by that of [P'] is legal: the instances are
    the same; [P] orders every two instances that conflict; [P'] keeps that
    order. *)
Record legal (A : accesses) (P P' : poly) : Prop := {
  same_instances : forall ev, scheduled P ev <-> scheduled P' ev;
  conflicts_ordered : forall a b,
    scheduled P a -> scheduled P b -> conflicting A a b ->
    time_of P a = time_of P b -> a = b;
  conflicts_kept : forall a b,
    scheduled P a -> scheduled P b -> conflicting A a b ->
    lex_lt (time_of P a) (time_of P b) -> lex_lt (time_of P' a) (time_of P' b)
}.

Lemma sorted_precedes : forall (R : event -> event -> Prop) t a b,
  StronglySorted R t -> precedes t a b -> R a b.
Proof.
  intros R t a b Hs (l1 & l2 & l3 & ->). induction l1 as [|x l1 IH]; simpl in Hs;
    inversion Hs as [|? ? Hs' Hf]; subst; [|apply IH; exact Hs'].
  rewrite Forall_forall in Hf. apply Hf, in_elt.
Qed.

Lemma one_precedes : forall (t : trace) a b,
  In a t -> In b t -> a = b \/ precedes t a b \/ precedes t b a.
Proof.
  intros t a b Ha Hb. apply in_split in Ha as (l & r & ->).
  apply in_app_iff in Hb as [Hb | [-> | Hb]]; [| left; reflexivity |].
  - right. right. apply in_split in Hb as (l1 & l2 & ->). exists l1, l2, r.
    rewrite <- app_assoc. reflexivity.
  - right. left. apply in_split in Hb as (r1 & r2 & ->). exists l, r1, r2. reflexivity.
Qed.

(** ** From schedules to memories

    A trace that runs the old schedule and a trace that runs the new one lead
    from any memory to the same memory, whatever the instructions compute, as
    long as they read and write what is stated. *)
Theorem legal_same_memory : forall A P P' t t',
  legal A P P' -> runs_schedule P t -> runs_schedule P' t' ->
  forall (value : Type) combine (effect : event -> memory value -> memory value), obeys A combine effect ->
  forall m, same (run effect t m) (run effect t' m).
Proof.
  intros A P P' t t' [Hsame Hordered Hkept] [Hall Honce Hsorted] [Hall' Honce' Hsorted'].
  intros value combine effect Heffect.
  apply (reordering event value (reads A) (writes A) (combines A) combine effect Heffect).
  - exact Honce.
  - apply NoDup_Permutation; [exact Honce | exact Honce'|].
    intros ev. rewrite Hall, Hall'. apply Hsame.
  - intros a b Hab Hc. destruct (precedes_in _ _ _ _ Hab) as [Ha Hb].
    assert (Hne : a <> b).
    { intros <-. exact (precedes_asym _ _ _ _ Honce Hab Hab). }
    assert (Hlt : lex_lt (time_of P a) (time_of P b)).
    { destruct (lex_lt_total (time_of P a) (time_of P b)) as [H | [H | H]].
      - exact H.
      - exfalso. apply Hne, Hordered; [apply Hall, Ha | apply Hall, Hb | exact Hc | exact H].
      - exfalso. exact (sorted_precedes _ _ _ _ Hsorted Hab H). }
    destruct (one_precedes t' a b) as [H | [H | H]].
    + apply Hall', Hsame, Hall, Ha.
    + apply Hall', Hsame, Hall, Hb.
    + contradiction.
    + exact H.
    + exfalso. apply (sorted_precedes _ _ _ _ Hsorted' H).
      apply Hkept; [apply Hall, Ha | apply Hall, Hb | exact Hc | exact Hlt].
Qed.

(** [n] and [n'] compute the same in environment [e]: both end, and for any
    instructions that respect the accesses they lead from any memory to the
    same memory. *)
Definition compute_the_same (A : accesses) (e : env) (n n' : node) : Prop :=
  exists t t', runs e n t /\ runs e n' t' /\
  forall (value : Type) combine (effect : event -> memory value -> memory value), obeys A combine effect ->
  forall m, same (run effect t m) (run effect t' m).

(** ** End to end

    The original loops [n] implement the original schedule, the generated
    loops [n'] implement the new one, and the step from one to the other is
    legal: then both leave the same memory, for all sizes and all inputs. *)
Theorem transformation_correct : forall (A : list Z -> accesses) G G' n n',
  parameters G' = parameters G ->
  (forall p, context G p -> context G' p) ->
  implements G n -> implements G' n' ->
  (forall p, context G p -> legal (A p) (statements G p) (statements G' p)) ->
  forall p, context G p -> compute_the_same (A p) (environment G p) n n'.
Proof.
  intros A G G' n n' Hpar Hcon [_ Hn] [_ Hn'] Hlegal p Hp.
  destruct (Hn p Hp) as (t & Ht & Hs). destruct (Hn' p (Hcon p Hp)) as (t' & Ht' & Hs').
  exists t, t'. unfold environment in *. rewrite Hpar in Ht'.
  split; [exact Ht | split; [exact Ht'|]].
  exact (legal_same_memory _ _ _ _ _ (Hlegal p Hp) Hs Hs').
Qed.
