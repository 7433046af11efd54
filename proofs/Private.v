(** * Storage that each iteration of a parallel loop has for itself

    Temporaries are arrays whose values after the program are not wanted.  Where
    each iteration of a parallel loop has its own copies of them, iterations may
    write them at the same time.  [tag ev] is the iteration that [ev] is in, and
    [privately] what an instruction does where the cells of temporaries come
    once for each tag.  If, in the original order, every read of a temporary
    sees a value that an instance with the same tag wrote, the copies change
    nothing but temporaries ([private_copies]). *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Memory Transformation Formulas Reduction Parallel.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** Which iteration an instance is in *)

(** [t] is [key], followed by any number of zeros. *)
Fixpoint begins_as (key t : list Z) : Prop :=
  match key, t with
  | [], _ => Forall (eq 0) t
  | a :: key', b :: t' => a = b /\ begins_as key' t'
  | _ :: _, [] => False
  end.

(** [left] loops that are marked parallel are to be entered: the tag of an
    instance in the last one of them is 1 and the way to its iteration,
    positions in blocks and values of iterators.  All others have the tag 0.
    [marked]: the node is right below the mark. *)
Fixpoint tagged (tag : event -> list Z) (left : nat) (marked : bool) (way : list Z) (e : env) (n : node) : Prop :=
  let inside := Nat.eqb left 0 in
  match n with
  | Call f args hint =>
      begins_as (if inside then 1 :: way else []) (tag (Event f (map (eval e) args) (map (eval e) hint)))
  | Block ns =>
      (fix each (k : Z) (ns : list node) : Prop :=
         match ns with
         | [] => True
         | n' :: ns' => tagged tag left false (if inside then way else way ++ [k]) e n' /\ each (k + 1) ns'
         end) 0 ns
  | If t a b => (holds e t -> tagged tag left false way e a) /\ (~ holds e t -> tagged tag left false way e b)
  | For x a t d b => forall v, strided (eval e a) d v -> holds ((x, v) :: e) t ->
      tagged tag (if marked then pred left else left) false (if inside then way else way ++ [v]) ((x, v) :: e) b
  | Let x a b => tagged tag left false way ((x, eval e a) :: e) b
  | Mark text b => tagged tag left (String.eqb text parallel) way e b
  end.

(** ** Copies *)

Section Private.
  Variable A : accesses.
  Variable temporary : string -> bool.
  Variable tag : event -> list Z.

  (** The cell that [ev] finds where the text says [c]. *)
  Definition own (ev : event) (c : cell) : cell :=
    if temporary (fst c) then (fst c, tag ev ++ snd c) else c.

  Definition same_prefix (t l : list Z) : bool :=
    if list_eq_dec Z.eq_dec (firstn (List.length t) l) t then true else false.

  Definition privately {value : Type} (effect : event -> memory value -> memory value) (ev : event) (m : memory value)
      : memory value := fun c =>
    let after := effect ev (fun c => m (own ev c)) in
    if temporary (fst c) then
      if same_prefix (tag ev) (snd c) then after (fst c, skipn (List.length (tag ev)) (snd c)) else m c
    else after c.

  (** The accesses to the copies. *)
  Definition copied : accesses :=
    Accesses (fun ev c => exists d, reads A ev d /\ c = own ev d) (fun ev c => exists d, writes A ev d /\ c = own ev d) (combines A).

  (** Temporaries that are said to be written are written. *)
  Definition surely {value : Type} (effect : event -> memory value -> memory value) : Prop :=
    forall ev c, temporary (fst c) = true -> writes A ev c ->
    forall m m', (forall r, reads A ev r -> m r = m' r) -> effect ev m c = effect ev m' c.

  Lemma same_prefix_app : forall t l, same_prefix t (t ++ l) = true.
  Proof.
    intros t l. unfold same_prefix. rewrite firstn_app, Nat.sub_diag, firstn_all. cbn [firstn]. rewrite app_nil_r.
    destruct (list_eq_dec Z.eq_dec t t); congruence.
  Qed.

  Lemma privately_own : forall value (effect : event -> memory value -> memory value) ev m c,
    privately effect ev m (own ev c) = effect ev (fun c => m (own ev c)) c.
  Proof.
    intros value effect ev m [x l]. unfold privately, own. cbn [fst snd].
    destruct (temporary x) eqn:Hx; cbn [fst snd]; rewrite Hx; [|reflexivity].
    rewrite same_prefix_app. cbn [fst snd]. f_equal. f_equal.
    rewrite skipn_app, Nat.sub_diag, skipn_all. reflexivity.
  Qed.

  (** Every other cell is left alone. *)
  Lemma own_or_alone : forall ev c, (exists d, c = own ev d) \/
    forall value (effect : event -> memory value -> memory value) m, privately effect ev m c = m c.
  Proof.
    intros ev [x l]. unfold privately. cbn [fst snd]. destruct (temporary x) eqn:Hx.
    - destruct (same_prefix (tag ev) l) eqn:Hl; [left | right; reflexivity].
      exists (x, skipn (List.length (tag ev)) l). unfold own. cbn [fst snd]. rewrite Hx. f_equal.
      unfold same_prefix in Hl. destruct (list_eq_dec Z.eq_dec (firstn (List.length (tag ev)) l) (tag ev)) as [He | He]; [|discriminate].
      rewrite <- He at 1. rewrite firstn_skipn. reflexivity.
    - left. exists (x, l). unfold own. cbn [fst]. rewrite Hx. reflexivity.
  Qed.

  Lemma privately_obeys : forall value combine (effect : event -> memory value -> memory value),
    obeys A combine effect -> obeys copied combine (privately effect).
  Proof.
    intros value combine effect [Hframe Hdetermined Horder]. constructor; [| |exact Horder].
    - intros ev m c. destruct (own_or_alone ev c) as [[d ->] | Halone]; [|right; apply Halone].
      rewrite privately_own. destruct (Hframe ev (fun c => m (own ev c)) d) as [H | H]; [left; exists d; auto | right; exact H].
    - intros ev m m' Hreads c. destruct (own_or_alone ev c) as [[d ->] | Halone]; [|right; left; auto].
      rewrite !privately_own.
      apply (Hdetermined ev (fun c => m (own ev c)) (fun c => m' (own ev c))). intros r Hr. apply Hreads. exists r. auto.
  Qed.

  (** ** Reads see values of their own iteration *)

  (** What [b] reads in [c] was written by [a]: nothing in between but what has the same tag. *)
  Definition source (t : trace) (a b : event) (c : cell) : Prop :=
    precedes t a b /\ writes A a c /\ tag a = tag b /\
    forall o, precedes t a o -> precedes t o b -> writes A o c -> tag o = tag b.

  Definition contained (t : trace) : Prop := forall b c,
    In b t -> temporary (fst c) = true -> reads A b c -> exists a, source t a b c.

  Lemma own_same_tag : forall a b c, tag a = tag b -> own a c = own b c.
  Proof. intros a b c H. unfold own. rewrite H. reflexivity. Qed.

  Lemma precedes_across : forall (done rest : trace) a b, In a done -> In b rest -> precedes (done ++ rest) a b.
  Proof.
    intros done rest a b Ha Hb. apply in_split in Ha as (l1 & l2 & ->). apply in_split in Hb as (l3 & l4 & ->).
    exists l1, (l2 ++ l3), l4. rewrite <- !app_assoc. reflexivity.
  Qed.

  Lemma precedes_done : forall (done rest : trace) a o, NoDup (done ++ o :: rest) ->
    precedes (done ++ o :: rest) a o -> In a done.
  Proof.
    intros done rest a o Hnd Hp. destruct (precedes_in _ _ _ _ Hp) as [Ha _].
    apply in_app_iff in Ha as [Ha | [<- | Ha]]; [exact Ha | |]; exfalso; refine (precedes_asym _ _ _ _ Hnd Hp _).
    - exact Hp.
    - change (done ++ o :: rest) with (done ++ [o] ++ rest). rewrite app_assoc. apply precedes_across; [|exact Ha].
      apply in_or_app. right. left. reflexivity.
  Qed.

  Lemma same_rest : forall (t u k l : list Z), List.length t = List.length u -> t ++ k = u ++ l -> k = l.
  Proof.
    induction t as [|a t IH]; intros [|b u] k l Hlen H; try discriminate; [exact H|].
    cbn in Hlen, H. injection H as _ H. exact (IH u k l ltac:(lia) H).
  Qed.

  Section Copies.
    Variable value : Type.
    Variable combine : string -> value -> value -> value.
    Variable effect : event -> memory value -> memory value.
    Hypothesis effect_obeys : obeys A combine effect.
    Hypothesis effect_surely : surely effect.

    (** Memories that differ in temporaries only. *)
    Definition same_but (m m' : memory value) : Prop := forall c, temporary (fst c) = false -> m c = m' c.

    (** [o] sees in its copies what it would see without them. *)
    Definition sees_alike (o : event) (m m' : memory value) : Prop := forall r, reads A o r -> m r = m' (own o r).

    Lemma written_alike : forall o m m' c, sees_alike o m m' -> temporary (fst c) = true -> writes A o c ->
      effect o m c = privately effect o m' (own o c).
    Proof. intros o m m' c Hview Ht Hw. rewrite privately_own. apply effect_surely; assumption. Qed.

    (** The copy that [a] has of a cell goes on to be like the cell, if only what has the same tag writes it. *)
    Lemma alike_after : forall o a c m m', sees_alike o m m' -> List.length (tag a) = List.length (tag o) ->
      temporary (fst c) = true -> (writes A o c -> tag o = tag a) -> m c = m' (own a c) ->
      effect o m c = privately effect o m' (own a c).
    Proof.
      intros o a c m m' Hview Hlen Ht Htag Hbefore.
      assert (Hdone : writes A o c -> effect o m c = privately effect o m' (own a c)).
      { intros Hw. rewrite <- (own_same_tag _ _ c (Htag Hw)). apply written_alike; assumption. }
      destruct (frame _ _ _ _ _ _ _ effect_obeys o m c) as [Hw | Hm]; [exact (Hdone Hw)|].
      destruct (frame _ _ _ _ _ _ _ (privately_obeys _ _ _ effect_obeys) o m' (own a c)) as [(d & Hw & Hd) | Hm']; [|congruence].
      apply Hdone. replace c with d; [exact Hw|].
      destruct c as [x l], d as [y k]. unfold own in Hd. cbn [fst snd] in *. rewrite Ht in Hd.
      assert (Hy : temporary y = true).
      { destruct (temporary y) eqn:Hy; [reflexivity|]. injection Hd as -> _. congruence. }
      rewrite Hy in Hd. injection Hd as -> Hd. f_equal. symmetry. exact (same_rest _ _ _ _ Hlen Hd).
    Qed.

    (** [done] has run, [rest] has not: what [rest] reads of what [done] wrote is alike. *)
    Definition so_far (done rest : trace) (m m' : memory value) : Prop :=
      same_but m m' /\
      forall a b c, In a done -> In b rest -> temporary (fst c) = true -> source (done ++ rest) a b c -> m c = m' (own b c).

    Definition same_lengths_in (t : trace) : Prop :=
      forall a b, In a t -> In b t -> List.length (tag a) = List.length (tag b).

    Lemma so_far_sees : forall done o rest m m', NoDup (done ++ o :: rest) -> contained (done ++ o :: rest) ->
      so_far done (o :: rest) m m' -> sees_alike o m m'.
    Proof.
      intros done o rest m m' Hnd Hin [Hsame Hseen] r Hr. destruct (temporary (fst r)) eqn:Ht.
      - destruct (Hin o r (in_elt _ _ _) Ht Hr) as [a Ha].
        apply (Hseen a o r); [exact (precedes_done _ _ _ _ Hnd (proj1 Ha)) | left; reflexivity | exact Ht | exact Ha].
      - unfold own. rewrite Ht. apply Hsame, Ht.
    Qed.

    Lemma so_far_step : forall done o rest m m', NoDup (done ++ o :: rest) -> contained (done ++ o :: rest) ->
      same_lengths_in (done ++ o :: rest) -> so_far done (o :: rest) m m' ->
      so_far (done ++ [o]) rest (effect o m) (privately effect o m').
    Proof.
      intros done o rest m m' Hnd Hin Hlen Hso. pose proof (so_far_sees _ _ _ _ _ Hnd Hin Hso) as Hview.
      destruct Hso as [Hsame Hseen].
      assert (Happ : done ++ o :: rest = (done ++ [o]) ++ rest) by (rewrite <- app_assoc; reflexivity).
      split; [|rewrite <- Happ].
      - intros c Ht. assert (Hc : own o c = c) by (unfold own; rewrite Ht; reflexivity).
        rewrite <- Hc at 2. rewrite privately_own. pose proof (Hsame c Ht) as Hm.
        destruct (determined _ _ _ _ _ _ _ effect_obeys o m (fun c => m' (own o c)) Hview c)
          as [[_ H] | [[H1 H2] | (k & x & _ & H1 & H2)]]; rewrite ?Hc in *; congruence.
      - intros a b c Ha Hb Ht Hsource. apply in_app_iff in Ha as [Ha | [<- | []]].
        + pose proof (Hseen a b c Ha (or_intror Hb) Ht Hsource) as Hbefore. destruct Hsource as (_ & _ & _ & Hbetween).
          apply alike_after; auto.
          * apply Hlen; apply in_or_app; right; [right; exact Hb | left; reflexivity].
          * intros Hw. apply Hbetween; [| |exact Hw].
            -- apply precedes_across; [exact Ha | left; reflexivity].
            -- rewrite Happ. apply precedes_across; [apply in_or_app; right; left; reflexivity | exact Hb].
        + destruct Hsource as (_ & Hw & Htag & _). rewrite <- (own_same_tag _ _ c Htag). apply written_alike; assumption.
    Qed.

    Lemma private_copies_from : forall rest done m m',
      NoDup (done ++ rest) -> contained (done ++ rest) -> same_lengths_in (done ++ rest) -> so_far done rest m m' ->
      same_but (run effect rest m) (run (privately effect) rest m').
    Proof.
      induction rest as [|o rest IH]; intros done m m' Hnd Hin Hlen Hso; [exact (proj1 Hso)|].
      pose proof (so_far_step _ _ _ _ _ Hnd Hin Hlen Hso) as Hnext.
      assert (Happ : done ++ o :: rest = (done ++ [o]) ++ rest) by (rewrite <- app_assoc; reflexivity).
      cbn [run fold_left]. rewrite Happ in Hnd, Hin, Hlen. exact (IH (done ++ [o]) _ _ Hnd Hin Hlen Hnext).
    Qed.

    (** [a] writes the cell, and after it only what has the same tag does. *)
    Definition writes_last (t : trace) (a : event) (c : cell) : Prop :=
      In a t /\ writes A a c /\ forall o, precedes t a o -> writes A o c -> tag o = tag a.

    Lemma last_copies_from : forall rest done m m' a c,
      NoDup (done ++ rest) -> contained (done ++ rest) -> same_lengths_in (done ++ rest) -> so_far done rest m m' ->
      temporary (fst c) = true -> writes_last (done ++ rest) a c -> (In a done -> m c = m' (own a c)) ->
      run effect rest m c = run (privately effect) rest m' (own a c).
    Proof.
      induction rest as [|o rest IH]; intros done m m' a c Hnd Hin Hlen Hso Ht Hlast Hbefore.
      - apply Hbefore. destruct Hlast as [Ha _]. rewrite app_nil_r in Ha. exact Ha.
      - pose proof (so_far_step _ _ _ _ _ Hnd Hin Hlen Hso) as Hnext. pose proof (so_far_sees _ _ _ _ _ Hnd Hin Hso) as Hview.
        assert (Happ : done ++ o :: rest = (done ++ [o]) ++ rest) by (rewrite <- app_assoc; reflexivity).
        assert (Hafter : In a (done ++ [o]) -> effect o m c = privately effect o m' (own a c)).
        { destruct Hlast as (Ha & Hw & Hothers). intros Hdone. apply in_app_iff in Hdone as [Hdone | [<- | []]].
          - apply alike_after; auto.
            + apply Hlen; [exact Ha | apply in_elt].
            + intros Hwo. apply Hothers; [|exact Hwo]. apply precedes_across; [exact Hdone | left; reflexivity].
          - apply written_alike; assumption. }
        cbn [run fold_left]. rewrite Happ in Hnd, Hin, Hlen, Hlast. exact (IH (done ++ [o]) _ _ a c Hnd Hin Hlen Hnext Ht Hlast Hafter).
    Qed.

    (** What OpenMP calls lastprivate: the copy of the iteration that writes a
        cell last holds what the cell holds where there are no copies. *)
    Theorem last_copies : forall t m m' a c, NoDup t -> contained t -> same_lengths_in t -> same_but m m' ->
      temporary (fst c) = true -> writes_last t a c -> run effect t m c = run (privately effect) t m' (own a c).
    Proof.
      intros t m m' a c Hnd Hin Hlen Hsame Ht Hlast. apply (last_copies_from t [] m m' a c); auto.
      - split; [exact Hsame|]. intros b d e [].
      - intros [].
    Qed.

    (** Running with copies leaves what running without them leaves, except in temporaries. *)
    Theorem private_copies : forall t m m', NoDup t -> contained t ->
      (forall a b, In a t -> In b t -> List.length (tag a) = List.length (tag b)) ->
      same_but m m' -> same_but (run effect t m) (run (privately effect) t m').
    Proof. intros t m m' Hnd Hin Hlen Hsame. apply (private_copies_from t []); auto. split; [exact Hsame|]. intros a b c []. Qed.
  End Copies.
End Private.

(** ** Copies for several loops

    Loops inside of each other may each have storage of their own.  A layer is
    the temporaries of which each iteration has its own in loops that are inside
    of [depth - 1] others that are marked, and the tags of instances there. *)
Record layer := Layer { depth : nat; hidden : string -> bool; tag_in_layer : event -> list Z }.

Definition in_layers (Ls : list layer) (x : string) : bool := existsb (fun L => hidden L x) Ls.

Fixpoint with_layers {value : Type} (Ls : list layer) (effect : event -> memory value -> memory value)
    : event -> memory value -> memory value :=
  match Ls with
  | [] => effect
  | L :: Ls' => with_layers Ls' (privately (hidden L) (tag_in_layer L) effect)
  end.

(** What [t] leaves without copies and [t'] with them is the same except in
    temporaries.  So is what [t] leaves in a temporary of the first layer, which
    no other has, and the copy of the iteration that writes it last: this is
    the one that OpenMP's lastprivate assigns after the loop. *)
Definition leave_alike (A : accesses) (Ls : list layer) {value : Type} (effect : event -> memory value -> memory value)
    (t t' : trace) (m m' : memory value) : Prop :=
  same_but (in_layers Ls) value (run effect t m) (run (with_layers Ls effect) t' m') /\
  forall L Ls', Ls = L :: Ls' ->
  forall a c, hidden L (fst c) = true -> in_layers Ls' (fst c) = false -> writes_last A (tag_in_layer L) t a c ->
  run effect t m c = run (with_layers Ls effect) t' m' (own (hidden L) (tag_in_layer L) a c).

(** [n] and [n'] compute the same in environment [e], except in temporaries:
    whatever the order in which the parallel loops of [n'] take their
    iterations, each iteration having its own temporaries as the layers say, in
    which anything may be at first. *)
Definition compute_the_same_privately (A : accesses) (Ls : list layer) (e : env) (n n' : node) : Prop :=
  Forall (fun L => tagged (tag_in_layer L) (depth L) false [] e n') Ls /\
  exists t, runs e n t /\ (exists t', runs e n' t') /\
  forall t', may_run e n' t' ->
  forall (value : Type) combine (effect : event -> memory value -> memory value),
  obeys A combine effect -> Forall (fun L => surely A (hidden L) effect) Ls ->
  forall m m', same_but (in_layers Ls) value m m' -> leave_alike A Ls effect t t' m m'.
