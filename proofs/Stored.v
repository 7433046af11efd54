(** * A checker for transformations that change storage

    [check_stored] compares a program with one that has other storage: its
    statements touch other cells, and it copies cells.  Between the two is a
    middle order of the instances.  The original may take it, with its own
    cells; taken with either storage it leaves the same values ([Values.v]); and
    from it the new program may depart, with the new cells.  It is told, for
    each value that is read, which instance wrote it; that is checked.  If it
    says [true], both programs leave the same memory, except in arrays that were
    replaced and are not wanted afterwards, and in their replacements
    ([check_same_values]). *)

From Coq Require Import ZArith List String Bool Lia Permutation Sorted.
From Loopwright Require Import Loop Scope Lexicographic Poly Formulas Reduction Memory Transformation Parallel Private.
From Loopwright Require Import Linear Symbolic Specification Conditions Reaching Walk Coverage Checker Changes Temporaries Reused Values.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** What is claimed *)

(** A copy of a cell of the new program to another one: the cell of the
    original whose value it has, from where, and to where. *)
Record copy := Copy { copied : place; copied_from : place; copied_to : place }.

(** Why a cell before and a cell after hold the same: they are the same cell of
    an array that is kept; or of one that held the same in the beginning, and
    nothing wrote the one without the other; or both were written by an instance. *)
Inductive seeing := Kept | Since_beginning | Written_by (o : origin).

(** In each case, which is a test, the reason. *)
Definition cases := list (test * seeing).

(** An array that was replaced and is compared at the end, with names for its
    subscripts, and the reasons. *)
Definition leaving := (string * list string * cases)%type.

(** The statements of the original, with their times; their times in the
    middle; what they touch before and after.  Then the copies, as statements
    with their times in the middle; the times of all in the new program; the
    arrays that are replaced; for each statement and each value that it reads
    why it is the same; and the arrays that are replaced and compared. *)
Record stored := Stored {
  written : specification;
  middle_times : list (list expr);
  uses_before : list use;
  uses_after : list use;
  copying : list shape;
  copies : list copy;
  last_times : list (list expr);
  replaced_arrays : list string;
  seen : list (list cases);
  left : list leaving
}.

Definition is_kept (U : stored) (x : string) : bool := negb (existsb (String.eqb x) (replaced_arrays U)).

Definition is_left (U : stored) (x : string) : bool := existsb (fun one : leaving => String.eqb x (fst (fst one))) (left U).

(** Whether the cells of an array are compared. *)
Definition is_compared (U : stored) (x : string) : bool := is_kept U x || is_left U x.

Definition all_shapes (U : stored) : list shape := retimed (fun _ t => t) (shapes (written U)) (middle_times U) ++ copying U.
Definition all_before (U : stored) : list use := uses_before U ++ map (fun c => Use [copied c] [copied c] None) (copies U).
Definition all_after (U : stored) : list use := uses_after U ++ map (fun c => Use [copied_from c] [copied_to c] None) (copies U).

(** From the original to the middle, and from there to the new program. *)
Definition first_change (U : stored) : change := Change (written U) (middle_times U) (uses_before U).
Definition last_change (U : stored) : change :=
  Change (Specification (sizes (written U)) (assumption (written U)) (all_shapes U)) (last_times U) (all_after U).

(** The cells of an instance, in the order in which its statement has them. *)
Definition cells_in (l : list (shape * use)) (pick : use -> list place) (e : env) (ev : event) : list cell :=
  match List.find (fun hu => String.eqb (name_of ev) (shape_name (fst hu))) l with
  | Some (h, u) => map (place_at (combine (shape_arguments h) (arguments_of ev) ++ e)) (pick u)
  | None => []
  end.

(** What instances do, if [f] has the values that they write, by those that they read. *)
Definition by_values {value : Type} (l : list (shape * use)) (e : env) (f : event -> list value -> nat -> value)
    (ev : event) : memory value -> memory value :=
  put (cells_in l may_read e ev) (cells_in l may_write e ev) (f ev).

Definition as_written (U : stored) : list (shape * use) := combine (shapes (written U)) (uses_before U).
Definition as_stored (U : stored) : list (shape * use) := combine (all_shapes U) (all_after U).

Definition named (l : list shape) (ev : event) : bool := existsb (fun h => String.eqb (name_of ev) (shape_name h)) l.

(** Both end and leave the same in every array that is compared, where instances
    compute the same from the same values and copies copy; the parallel loops
    of the new program take their iterations in any order. *)
Definition compute_the_same_values (U : stored) (e : env) (n n' : node) : Prop :=
  exists t, runs e n t /\ (exists t', runs e n' t') /\
  forall t', may_run e n' t' ->
  forall (value : Type) (f : event -> list value -> nat -> value),
  (forall ev x, named (copying U) ev = true -> f ev [x] 0%nat = x) ->
  forall m m' : memory value, (forall c, is_compared U (fst c) = true -> m c = m' c) ->
  forall c, is_compared U (fst c) = true -> run (by_values (as_written U) e f) t m c = run (by_values (as_stored U) e f) t' m' c.

(** ** The conditions *)

(** A statement and what it touches before and after. *)
Definition piece := (shape * use * use)%type.

Definition pieces (U : stored) : list piece := combine (combine (all_shapes U) (all_before U)) (all_after U).

Section Goals.
  Variables kept begun : string -> bool.
  Variable real : shape -> bool.
  Variable all : list piece.
  Variable sizes_scope : scope.

  (** Two places are the same cell. *)
  Definition alike_goals (s : state) (h : shape) (c c' : place) : list goal :=
    if String.eqb (fst c) (fst c') then
      let '(_, _, i, s1) := some_instance h sizes_scope s in
      match linear_all [(i, snd c); (i, snd c')] s1 with
      | ([x; y], s2) => [exclude (apart x y) s2]
      | _ => unfit
      end
    else unfit.

  (** No two instances have the same time. *)
  Definition tie_goals (s : state) (h h' : shape) : list goal :=
    let '(x, _, i, s1) := some_instance h sizes_scope s in
    let '(y, _, j, s2) := some_instance h' sizes_scope s1 in
    match linear_all [(i, shape_time h); (j, shape_time h')] s2 with
    | ([a; b], s3) => [exclude (both [same_place a b; if String.eqb (shape_name h) (shape_name h') then apart x y else always]) s3]
    | _ => unfit
    end.

  (** What the original writes to a cell that is kept, the new program writes there. *)
  Definition write_goals (s : state) (p : piece) : list goal :=
    let '(h, u, u') := p in
    if real h then
      flat_map (fun dd => if kept (fst (fst dd)) || kept (fst (snd dd)) then alike_goals s h (fst dd) (snd dd) else [])
        (combine (may_write u) (may_write u'))
    else [].

  Definition unlike (d c : place) (x y : list lin) : fact := if String.eqb (fst d) (fst c) then apart x y else always.

  Definition within (first last : option (list lin)) (now : list lin) : list fact :=
    match first with Some t => [not_earlier now t] | None => [] end ++ match last with Some t => [earlier now t] | None => [] end.

  (** Between the times [first] and [last], the writes of [p] leave the same in [c] as in [c']. *)
  Definition together_goals (s : state) (c c' : place) (x x' : list lin) (first last : option (list lin)) (p : piece) : list goal :=
    let '(h, u, u') := p in
    flat_map (fun dd : place * place =>
      let (d, d') := dd in
      if String.eqb (fst d') (fst c') || (real h && String.eqb (fst d) (fst c)) then
        let '(_, _, k, s1) := some_instance h sizes_scope s in
        match linear_all [(k, snd d); (k, snd d'); (k, shape_time h)] s1 with
        | ([y; y'; now], s2) =>
            (if String.eqb (fst d') (fst c')
             then [exclude (both (same_place y' x' :: unlike d c y x :: within first last now)) s2] else []) ++
            (if real h && String.eqb (fst d) (fst c)
             then [exclude (both (same_place y x :: unlike d' c' y' x' :: within first last now)) s2] else [])
        | _ => unfit
        end
      else []) (combine (may_write u) (may_write u')).

  Definition find_piece (f : string) : option piece := List.find (fun p => String.eqb f (shape_name (fst (fst p)))) all.

  (** One value that is read, by an instance of [h], or if [ends] at the end. *)
  Definition read_goals (ends : bool) (s : state) (h : shape) (c c' : place) (how : seeing) : list goal :=
    let until := fun last : list lin => if ends then None else Some last in
    match how with
    | Kept => if kept (fst c) then alike_goals s h c c' else unfit
    | Since_beginning =>
        if begun (fst c) && String.eqb (fst c) (fst c') then
          let '(_, _, i, s1) := some_instance h sizes_scope s in
          match linear_all [(i, snd c); (i, snd c'); (i, shape_time h)] s1 with
          | ([x; x'; last], s2) => exclude (apart x x') s2 :: flat_map (together_goals s2 c c' x x' None (until last)) all
          | _ => unfit
          end
        else unfit
    | Written_by o =>
        match find_piece (origin_statement o) with
        | None => unfit
        | Some (g, u, u') =>
            match nth_error (combine (may_write u) (may_write u')) (origin_write o) with
            | None => unfit
            | Some (w, w') =>
                if String.eqb (fst c) (fst w) && String.eqb (fst c') (fst w') &&
                   Nat.eqb (List.length (origin_arguments o)) (List.length (shape_arguments g)) then
                  let '(_, _, i, s1) := some_instance h sizes_scope s in
                  let (xs, s2) := linear_list i (origin_arguments o) s1 in
                  let j := combine (shape_arguments g) xs ++ sizes_scope in
                  let (outside, s3) := known j false (shape_domain g) s2 in
                  match linear_all [(i, snd c); (j, snd w); (i, snd c'); (j, snd w'); (j, shape_time g); (i, shape_time h)] s3 with
                  | ([x; y; x'; y'; first; last], s4) =>
                      exclude (either ([outside; apart x y; apart x' y'] ++ if ends then [] else [not_earlier first last])) s4 ::
                      flat_map (together_goals s4 c c' x x' (Some first) (until last)) all
                  | _ => unfit
                  end
                else unfit
            end
        end
    end.

  (** The instances of [h] of which [t] is true. *)
  Definition such_that (h : shape) (t : test) : shape :=
    Shape (shape_name h) (shape_arguments h) (shape_hints h) (And [shape_domain h; t]) (shape_time h).

  (** In every case, and one of them is the case. *)
  Definition cases_goals (ends : bool) (s : state) (h : shape) (c c' : place) (k : cases) : list goal :=
    let '(_, _, i, s1) := some_instance h sizes_scope s in
    let (none, s2) := known i false (Or (map fst k)) s1 in
    exclude none s2 :: flat_map (fun one => read_goals ends s (such_that h (fst one)) c c' (snd one)) k.

  Fixpoint reads_goals (s : state) (h : shape) (cs : list (place * place)) (os : list cases) : list goal :=
    match cs, os with
    | [], [] => []
    | c :: cs', o :: os' => cases_goals false s h (fst c) (snd c) o ++ reads_goals s h cs' os'
    | _, _ => unfit
    end.

  Fixpoint all_reads_goals (s : state) (ps : list piece) (os : list (list cases)) : list goal :=
    match ps, os with
    | [], [] => []
    | (h, u, u') :: ps', o :: os' => reads_goals s h (combine (may_read u) (may_read u')) o ++ all_reads_goals s ps' os'
    | _, _ => unfit
    end.

  (** The cells of an array that is compared at the end. *)
  Definition cells_of_array (one : leaving) : shape := Shape "" (snd (fst one)) [] (And []) [].

  Definition cell_left (one : leaving) : place := (fst (fst one), map Var (snd (fst one))).

  Definition left_goals (s : state) (one : leaving) : list goal :=
    cases_goals true s (cells_of_array one) (cell_left one) (cell_left one) (snd one).
End Goals.

Definition is_real (U : stored) (h : shape) : bool := existsb (fun g => String.eqb (shape_name h) (shape_name g)) (shapes (written U)).

Definition stored_goals (U : stored) (n n' : node) (how how' : proposal) : list goal :=
  let T' := last_change U in
  let (c, s) := beginning (original T') in
  goals (written U) n how ++ goals (changed T') n' how' ++ legality_goals (first_change U) ++ legality_goals T' ++ parallel_goals T' n' ++
  flat_map (fun h => flat_map (tie_goals c s h) (all_shapes U)) (all_shapes U) ++
  flat_map (write_goals (is_kept U) (is_real U) c s) (pieces U) ++
  all_reads_goals (is_kept U) (is_left U) (is_real U) (pieces U) c s (pieces U) (seen U) ++
  flat_map (left_goals (is_kept U) (is_left U) (is_real U) (pieces U) c s) (left U).

Definition paired (p : piece) : bool :=
  let '(_, u, u') := p in
  Nat.eqb (List.length (may_read u)) (List.length (may_read u')) && Nat.eqb (List.length (may_write u)) (List.length (may_write u')).

(** Places in an array that is compared have as many subscripts as it has, whose names differ. *)
Definition fits_left (U : stored) (c : place) : bool :=
  forallb (fun one : leaving => negb (String.eqb (fst c) (fst (fst one))) || Nat.eqb (List.length (snd c)) (List.length (snd (fst one)))) (left U).

Fixpoint different (l : list string) : bool :=
  match l with
  | [] => true
  | x :: l' => negb (existsb (String.eqb x) l') && different l'
  end.

Definition uncombined (u : use) : bool := match combined_by u with None => true | Some _ => false end.

Definition well_formed_stored (U : stored) (n n' : node) (how : proposal) : bool :=
  let G := original (last_change U) in
  well_formed (written U) n && well_formed (changed (last_change U)) n' && closed_specification G && distinct (all_shapes U) &&
  Nat.eqb (List.length (middle_times U)) (List.length (shapes (written U))) &&
  Nat.eqb (List.length (uses_before U)) (List.length (shapes (written U))) &&
  Nat.eqb (List.length (uses_after U)) (List.length (shapes (written U))) &&
  Nat.eqb (List.length (copies U)) (List.length (copying U)) &&
  Nat.eqb (List.length (last_times U)) (List.length (all_shapes U)) &&
  forallb (closed_use (sizes G)) (combine (all_shapes U) (all_before U)) && forallb (closed_use (sizes G)) (combine (all_shapes U) (all_after U)) &&
  forallb (fun u => forallb (fits_left U) (may_write u)) (all_before U) && forallb (fun u => forallb (fits_left U) (may_write u)) (all_after U) &&
  forallb (fun one : leaving => different (snd (fst one))) (left U) &&
  forallb paired (pieces U) && forallb uncombined (uses_before U) && forallb uncombined (uses_after U) &&
  forallb (fun c => negb (is_kept U (fst (copied_to c)))) (copies U) &&
  match ties how with [] => true | _ => false end.

Definition check_stored (U : stored) (n n' : node) (how how' : proposal) (cs : list certificate) : bool :=
  well_formed_stored U n n' how && refutes_all cs (stored_goals U n n' how how').

(** ** Soundness *)

Lemma find_use : forall hs (us : list use) h u f, distinct hs = true -> In (h, u) (combine hs us) -> f = shape_name h ->
  List.find (fun hu => String.eqb f (shape_name (fst hu))) (combine hs us) = Some (h, u).
Proof.
  intros hs us h u f Hd Hin ->. revert us Hin. induction hs as [|g hs IH]; intros [|w us] Hin; try (destruct Hin; fail).
  cbn [combine List.find fst]. cbn [distinct] in Hd. apply andb_prop in Hd as [Hd Hrest]. apply andb_prop in Hd as [Hd _].
  apply negb_true_iff in Hd. destruct Hin as [Heq | Hin].
  - injection Heq as -> ->. rewrite String.eqb_refl. reflexivity.
  - destruct (String.eqb_spec (shape_name h) (shape_name g)) as [Hname | _]; [|exact (IH Hrest us Hin)].
    exfalso. assert (Htrue : existsb (fun k => String.eqb (shape_name g) (shape_name k)) hs = true).
    { apply existsb_exists. exists h. split; [apply (in_combine_l _ _ _ _ Hin)|]. rewrite Hname. apply String.eqb_refl. }
    congruence.
Qed.

Lemma cells_found : forall (e : env) l ev, 
  cells_of reads_of (map (access_of e) l) ev =
    option_map (fun hu : shape * use => map (place_at (combine (shape_arguments (fst hu)) (arguments_of ev) ++ e)) (may_read (snd hu)))
      (List.find (fun hu => String.eqb (name_of ev) (shape_name (fst hu))) l) /\
  cells_of writes_of (map (access_of e) l) ev =
    option_map (fun hu : shape * use => map (place_at (combine (shape_arguments (fst hu)) (arguments_of ev) ++ e)) (may_write (snd hu)))
      (List.find (fun hu => String.eqb (name_of ev) (shape_name (fst hu))) l).
Proof.
  intros e l ev. induction l as [|[h u] l [IH1 IH2]]; [split; reflexivity|].
  cbn [map cells_of access_of statement_name List.find fst reads_of writes_of].
  destruct (String.eqb (name_of ev) (shape_name h)); [split; reflexivity | split; assumption].
Qed.

(** What instances do by values is what is stated of them. *)
Lemma by_values_obeys : forall T e (value : Type) (f : event -> list value -> nat -> value), forallb uncombined (uses T) = true ->
  obeys (stated T e) (fun _ y _ => y) (by_values (combine (shapes (original T)) (uses T)) e f).
Proof.
  intros T e value f Hu. set (l := combine (shapes (original T)) (uses T)).
  assert (Hnone : forall ev, operator_of l ev = None).
  { intros ev. assert (Hl : forall hu, In hu l -> combined_by (snd hu) = None).
    { intros [h u] Hin. apply in_combine_r in Hin. rewrite forallb_forall in Hu. specialize (Hu u Hin). unfold uncombined in Hu. cbn [snd].
      destruct (combined_by u); [discriminate | reflexivity]. }
    clear Hu. induction l as [|[h u] l IH]; [reflexivity|]. cbn [operator_of].
    destruct (String.eqb (name_of ev) (shape_name h)); [apply (Hl (h, u)); left; reflexivity|]. apply IH. intros hu Hin. apply Hl. right. exact Hin. }
  constructor; [| |reflexivity].
  - intros ev m c. unfold stated, memory_uses, by_values, put, cells_in. cbn [writes accesses_of]. fold l.
    rewrite (proj2 (cells_found e l ev)). destruct (List.find _ l) as [[h u]|]; [|left; exact I]. cbn [option_map touches fst snd].
    destruct (position c _) as [k|] eqn:E; [left; exact (position_in _ _ _ E) | right; reflexivity].
  - intros ev m m' H c. unfold stated, memory_uses in H. cbn [reads accesses_of] in H. fold l in H.
    rewrite (proj1 (cells_found e l ev)) in H. unfold stated. cbn [combines]. fold l. rewrite Hnone. unfold by_values, put, cells_in in *.
    destruct (List.find _ l) as [[h u]|]; [|right; left; split; reflexivity]. cbn [option_map touches fst snd] in H.
    destruct (position c _) as [k|]; [left; split; [reflexivity|] | right; left; split; reflexivity].
    f_equal. apply map_ext_in. exact H.
Qed.

Lemma find_shape_app : forall l k f n m,
  find_shape (l ++ k) f n m = match find_shape l f n m with Some h => Some h | None => find_shape k f n m end.
Proof.
  induction l as [|h l IH]; intros k f n m; [reflexivity|]. cbn [app find_shape].
  destruct (String.eqb f (shape_name h) && Nat.eqb n (List.length (shape_arguments h)) && Nat.eqb m (List.length (shape_hints h)));
    [reflexivity | apply IH].
Qed.

Lemma find_shape_some : forall l h, In h l -> find_shape l (shape_name h) (List.length (shape_arguments h)) (List.length (shape_hints h)) <> None.
Proof.
  induction l as [|g l IH]; intros h Hin; [destruct Hin|]. cbn [find_shape]. destruct Hin as [-> | Hin].
  - rewrite String.eqb_refl, !Nat.eqb_refl. discriminate.
  - destruct (_ && _); [discriminate | exact (IH h Hin)].
Qed.

(** Of a longer list, the statements of the first part. *)
Lemma scheduled_front : forall l k e ev, distinct (l ++ k) = true ->
  (scheduled (poly_of l e) ev <-> scheduled (poly_of (l ++ k) e) ev /\ named l ev = true) /\
  (scheduled (poly_of l e) ev -> time_of (poly_of l e) ev = time_of (poly_of (l ++ k) e) ev).
Proof.
  intros l k e [f x y] Hd. rewrite !scheduled_instance, !time_instance. unfold has_instance, at_time, named. cbn [name_of arguments_of hint_of].
  rewrite !find_shape_app. destruct (find_shape l f (List.length x) (List.length y)) as [h|] eqn:E.
  - split; [|reflexivity]. apply find_shape_known in E as (Hin & Hname & _). split; [|tauto]. intros H. split; [exact H|].
    apply existsb_exists. exists h. split; [exact Hin|]. rewrite Hname. apply String.eqb_refl.
  - split; [|contradiction]. split; [contradiction|]. intros [H Hname]. apply existsb_exists in Hname as (g & Hg & Hname).
    apply String.eqb_eq in Hname. subst f. destruct (find_shape k _ _ _) as [h|] eqn:E'; [|exact H].
    apply find_shape_known in E' as (Hin & Hname & Hx & Hy).
    assert (Heq : h = g).
    { apply (distinct_same (l ++ k)); [exact Hd | apply in_or_app; auto | apply in_or_app; auto | exact Hname]. }
    subst h. rewrite <- Hx, <- Hy in E. destruct (find_shape_some l g Hg E).
Qed.

Section Sound.
  Variable U : stored.
  Variable e : env.
  Hypothesis names_differ : distinct (all_shapes U) = true.
  Hypothesis used_before : List.length (all_before U) = List.length (all_shapes U).
  Hypothesis used_after : List.length (all_after U) = List.length (all_shapes U).

  Let hs := all_shapes U.
  Let P := poly_of hs e.
  Let R := cells_in (combine hs (all_before U)) may_read e.
  Let W := cells_in (combine hs (all_before U)) may_write e.
  Let R' := cells_in (combine hs (all_after U)) may_read e.
  Let W' := cells_in (combine hs (all_after U)) may_write e.
  Let real (ev : event) : bool := named (shapes (written U)) ev.

  Definition instance_of (p : piece) (ev : event) : Prop :=
    let '(h, u, u') := p in let i := instance e h (arguments_of ev) [] in
    ev = Event (shape_name h) (arguments_of ev) [] /\ List.length (arguments_of ev) = List.length (shape_arguments h) /\
    decide i (shape_domain h) = true /\ time_of P ev = map (eval i) (shape_time h) /\ real ev = is_real U h /\
    R ev = map (place_at i) (may_read u) /\ W ev = map (place_at i) (may_write u) /\
    R' ev = map (place_at i) (may_read u') /\ W' ev = map (place_at i) (may_write u').

  Lemma piece_parts : forall h u u', In (h, u, u') (pieces U) -> In h hs /\ In (h, u) (combine hs (all_before U)) /\ In (h, u') (combine hs (all_after U)).
  Proof.
    unfold pieces, hs. generalize (all_shapes U) as l, (all_before U) as us, (all_after U) as ws.
    induction l as [|g l IH]; intros [|u0 us] [|w0 ws] h u u' Hin; try (destruct Hin; fail).
    cbn [combine] in *. destruct Hin as [Heq | Hin].
    - injection Heq as -> -> ->. repeat split; left; reflexivity.
    - destruct (IH _ _ _ _ _ Hin) as (? & ? & ?). repeat split; right; assumption.
  Qed.

  Lemma piece_of : forall h, In h hs -> exists u u', In (h, u, u') (pieces U).
  Proof.
    unfold pieces, hs. revert used_before used_after. generalize (all_shapes U) as l, (all_before U) as us, (all_after U) as ws.
    induction l as [|g l IH]; intros [|u0 us] [|w0 ws] H1 H2 h Hin; try discriminate; try (destruct Hin; fail).
    destruct Hin as [<- | Hin]; [exists u0, w0; left; reflexivity|].
    destruct (IH us ws ltac:(cbn in *; lia) ltac:(cbn in *; lia) h Hin) as (u & u' & H). exists u, u'. right. exact H.
  Qed.

  Lemma piece_instance : forall h u u' x, In (h, u, u') (pieces U) -> List.length x = List.length (shape_arguments h) ->
    decide (instance e h x []) (shape_domain h) = true ->
    scheduled P (Event (shape_name h) x []) /\ instance_of (h, u, u') (Event (shape_name h) x []).
  Proof.
    intros h u u' x Hin Hx Hd. destruct (piece_parts _ _ _ Hin) as (Hh & Hu & Hu').
    pose proof (find_shape_distinct hs h names_differ Hh) as Hfind. pose proof (distinct_hints _ _ names_differ Hh) as Hhints. split.
    - apply scheduled_instance. unfold has_instance. cbn [name_of arguments_of hint_of List.length]. rewrite Hx, Hfind. exact Hd.
    - unfold instance_of. cbn [arguments_of]. split; [reflexivity | split; [exact Hx | split; [exact Hd | split]]].
      + unfold P. rewrite time_instance. unfold at_time. cbn [name_of arguments_of hint_of List.length]. rewrite Hx, Hfind. reflexivity.
      + split; [reflexivity|]. unfold R, W, R', W', cells_in. cbn [name_of arguments_of].
        rewrite !(find_use hs (all_before U) h u (shape_name h) names_differ Hu eq_refl).
        rewrite !(find_use hs (all_after U) h u' (shape_name h) names_differ Hu' eq_refl).
        rewrite (instance_no_hints e h x [] Hhints). repeat split.
  Qed.

  Lemma scheduled_piece : forall ev, scheduled P ev -> exists p, In p (pieces U) /\ instance_of p ev.
  Proof.
    intros [f x y] Hev. unfold P in Hev. apply scheduled_instance in Hev. unfold has_instance in Hev.
    cbn [name_of arguments_of hint_of] in *.
    destruct (find_shape hs f (List.length x) (List.length y)) as [h|] eqn:Eh; [|contradiction].
    destruct (find_shape_known _ _ _ _ _ Eh) as (Hin & <- & Hx & Hy).
    pose proof (distinct_hints _ _ names_differ Hin) as Hhints. rewrite Hhints in Hy. destruct y; [|discriminate].
    destruct (piece_of h Hin) as (u & u' & Hp). exists (h, u, u'). split; [exact Hp|].
    exact (proj2 (piece_instance h u u' x Hp (eq_sym Hx) Hev)).
  Qed.

  Variable c0 : scope.

  (** What is begun: a state in which the parameters have their values. *)
  Definition stands (v : list Z) (s : state) : Prop := models v s /\ agrees e c0 v.

  Lemma instance_stands : forall h s xs ys i s' v x, shape_hints h = [] -> some_instance h c0 s = (xs, ys, i, s') -> stands v s ->
    List.length x = List.length (shape_arguments h) -> decide (instance e h x []) (shape_domain h) = true ->
    exists w, stands (v ++ w) s' /\ denote_all (v ++ w) xs x /\ agrees (instance e h x []) i (v ++ w).
  Proof.
    intros h s xs ys i s' v x Hhints E [Hm Hc] Hx Hd.
    destruct (some_instance_models _ _ _ _ _ _ _ e v x [] E Hm Hc Hx ltac:(rewrite Hhints; reflexivity) Hd) as (w & Hm' & Hxs & _ & Hi).
    exists w. split; [split; [exact Hm' | apply agrees_more, Hc] | split; [exact Hxs | exact Hi]].
  Qed.

  Lemma piece_hints : forall h u u', In (h, u, u') (pieces U) -> shape_hints h = [].
  Proof. intros h u u' Hp. apply (distinct_hints hs); [exact names_differ | apply (piece_parts _ _ _ Hp)]. Qed.

  Lemma alike_sound : forall h s v z c c', shape_hints h = [] -> stands v s ->
    List.length z = List.length (shape_arguments h) -> decide (instance e h z []) (shape_domain h) = true ->
    Forall refuted (alike_goals c0 s h c c') -> place_at (instance e h z []) c = place_at (instance e h z []) c'.
  Proof.
    intros h s v z c c' Hh Hs Hx Hd H.
    unfold alike_goals in H. destruct (String.eqb_spec (fst c) (fst c')) as [Hname | _]; [|destruct (unfit_false H)].
    destruct (some_instance h c0 s) as [[[xs ys] i] s1] eqn:E1.
    destruct (instance_stands _ _ _ _ _ _ _ _ Hh E1 Hs Hx Hd) as (w1 & [Hm1 _] & _ & Hi). set (ie := instance e h z []) in *.
    destruct (linear_all [(i, snd c); (i, snd c')] s1) as [ls s2] eqn:E2.
    destruct (linear_all_models [((i, snd c), ie); ((i, snd c'), ie)] s1 ls s2 _ E2 Hm1 ltac:(repeat constructor; assumption)) as (w2 & Hm2 & Hls).
    inversion Hls as [|? a ? ls1 Ha Hl1]; subst. inversion Hl1 as [|? b ? ls2 Hb Hl2]; subst. inversion Hl2; subst. cbn [fst snd] in *.
    inversion H as [|? ? Hgoal _]; subst. unfold place_at. rewrite Hname. f_equal.
    apply (apart_equal _ _ _ _ _ Ha Hb). exact (refuted_state _ _ _ Hgoal Hm2).
  Qed.

  Lemma ties_sound : forall s v, stands v s -> Forall refuted (flat_map (fun h => flat_map (tie_goals c0 s h) hs) hs) ->
    forall a b, scheduled P a -> scheduled P b -> time_of P a = time_of P b -> a = b.
  Proof.
    intros s v Hs H a b Ha Hb Htime.
    destruct (scheduled_piece a Ha) as ([[h u] u'] & Hp & Hea & Hax & Had & Hat & _).
    destruct (scheduled_piece b Hb) as ([[g w] w'] & Hq & Heb & Hbx & Hbd & Hbt & _).
    destruct (piece_parts _ _ _ Hp) as (Hh & _). destruct (piece_parts _ _ _ Hq) as (Hg & _).
    pose proof (piece_hints _ _ _ Hp) as Hhh. pose proof (piece_hints _ _ _ Hq) as Hgh.
    assert (Hgoals : Forall refuted (tie_goals c0 s h g)).
    { apply Forall_forall. intros gl Hgl. rewrite Forall_forall in H. apply H. apply in_flat_map. exists h. split; [exact Hh|].
      apply in_flat_map. exists g. auto. }
    unfold tie_goals in Hgoals. destruct (some_instance h c0 s) as [[[xs ?] i] s1] eqn:E1. destruct (some_instance g c0 s1) as [[[ys ?] j] s2] eqn:E2.
    destruct (instance_stands _ _ _ _ _ _ _ _ Hhh E1 Hs Hax Had) as (w1 & Hs1 & Hxs & Hi).
    destruct (instance_stands _ _ _ _ _ _ _ _ Hgh E2 Hs1 Hbx Hbd) as (w2 & [Hm2 _] & Hys & Hj).
    set (ie := instance e h (arguments_of a) []) in *. set (je := instance e g (arguments_of b) []) in *.
    destruct (linear_all [(i, shape_time h); (j, shape_time g)] s2) as [ls s3] eqn:E3.
    destruct (linear_all_models [((i, shape_time h), ie); ((j, shape_time g), je)] s2 ls s3 _ E3 Hm2
      ltac:(repeat constructor; [apply agrees_more; assumption | assumption])) as (w3 & Hm3 & Hls).
    inversion Hls as [|? ta ? ls1 Hta Hl1]; subst. inversion Hl1 as [|? tb ? ls2 Htb Hl2]; subst. inversion Hl2; subst. cbn [fst snd] in *.
    inversion Hgoals as [|? ? Hgoal _]; subst.
    assert (Hsame : true_at (((v ++ w1) ++ w2) ++ w3) (same_place ta tb)).
    { apply (same_place_true _ _ _ _ Hta). rewrite <- Hat, Htime, Hbt. exact Htb. }
    destruct (String.eqb_spec (shape_name h) (shape_name g)) as [Hname | Hname].
    - rewrite Hea, Heb, Hname. f_equal.
      apply (apart_equal (((v ++ w1) ++ w2) ++ w3) xs ys); [do 2 apply denote_all_more; exact Hxs | apply denote_all_more; exact Hys|].
      intros Hno. apply (refuted_state _ _ _ Hgoal Hm3). apply both_true. repeat constructor; assumption.
    - exfalso. apply (refuted_state _ _ _ Hgoal Hm3). apply both_true. repeat constructor; assumption.
  Qed.

  Lemma in_map_pairs : forall (i : env) l l' d d', In (d, d') (combine (map (place_at i) l) (map (place_at i) l')) ->
    exists q q', In (q, q') (combine l l') /\ d = place_at i q /\ d' = place_at i q'.
  Proof.
    intros i. induction l as [|q l IH]; intros [|q' l'] d d' H; try (destruct H; fail). cbn [map combine] in H. destruct H as [H | H].
    - injection H as <- <-. exists q, q'. repeat split. left. reflexivity.
    - destruct (IH l' d d' H) as (r & r' & H1 & H2). exists r, r'. split; [right; exact H1 | exact H2].
  Qed.

  Lemma writes_sound : forall s v, stands v s -> Forall refuted (flat_map (write_goals (is_kept U) (is_real U) c0 s) (pieces U)) ->
    forall ev d d', scheduled P ev -> real ev = true -> In (d, d') (combine (W ev) (W' ev)) ->
    is_kept U (fst d) = true \/ is_kept U (fst d') = true -> d = d'.
  Proof.
    intros s v Hs H ev d d' Hev Hreal Hd Hkept. destruct (scheduled_piece ev Hev) as ([[h u] u'] & Hp & Hi). pose proof Hi as Hi'.
    destruct Hi' as (_ & Hex & Hed & _ & Hr & _ & Hw & _ & Hw'). rewrite Hw, Hw' in Hd. apply in_map_pairs in Hd as (q & q' & Hq & -> & ->).
    cbn [place_at fst] in Hkept. apply (alike_sound h s v (arguments_of ev) q q' (piece_hints _ _ _ Hp) Hs Hex Hed). apply Forall_forall. intros gl Hgl.
    rewrite Forall_forall in H. apply H. apply in_flat_map. exists (h, u, u'). split; [exact Hp|].
    unfold write_goals. rewrite <- Hr, Hreal. apply in_flat_map. exists (q, q'). split; [exact Hq|]. cbn [fst snd].
    replace (is_kept U (fst q) || is_kept U (fst q')) with true by (destruct Hkept as [-> | ->]; [|rewrite orb_true_r]; reflexivity). exact Hgl.
  Qed.

  Lemma unlike_true : forall v i j d c y x, denote_all v y (map (eval i) (snd d)) -> denote_all v x (map (eval j) (snd c)) ->
    place_at i d <> place_at j c -> true_at v (unlike d c y x).
  Proof.
    intros v i j d c y x Hy Hx Hne. unfold unlike. destruct (String.eqb_spec (fst d) (fst c)) as [Hname | _]; [|exact I].
    apply (apart_true _ _ _ _ _ Hy Hx). intros Hagree. apply Hne. unfold place_at. rewrite Hname, (agree_equal _ _ Hagree). reflexivity.
  Qed.

  (** Times that bound others, if they are given. *)
  Definition denote_bound (v : list Z) (b : option (list lin)) (z : option (list Z)) : Prop :=
    match b, z with Some l, Some t => denote_all v l t | None, None => True | _, _ => False end.

  Definition inside (first last : option (list Z)) (t : list Z) : Prop :=
    match first with Some f => ~ lex_lt t f | None => True end /\ match last with Some l => lex_lt t l | None => True end.

  Lemma within_true : forall v first last now tf tl t, denote_bound v first tf -> denote_bound v last tl -> denote_all v now t ->
    inside tf tl t -> Forall (true_at v) (within first last now).
  Proof.
    intros v first last now tf tl t Hf Hl Hn [H1 H2]. unfold within. apply Forall_app. split.
    - destruct first as [f|], tf as [zf|]; cbn [denote_bound] in Hf; try contradiction; constructor; [|constructor].
      exact (not_earlier_true _ _ _ _ _ Hn Hf H1).
    - destruct last as [l|], tl as [zl|]; cbn [denote_bound] in Hl; try contradiction; constructor; [|constructor].
      exact (earlier_true _ _ _ _ _ Hn Hl H2).
  Qed.

  Lemma together_sound : forall s v ie c c' x x' first last tf tl o p, stands v s ->
    denote_all v x (map (eval ie) (snd c)) -> denote_all v x' (map (eval ie) (snd c')) ->
    denote_bound v first tf -> denote_bound v last tl ->
    Forall refuted (together_goals (is_real U) c0 s c c' x x' first last p) -> In p (pieces U) -> instance_of p o ->
    inside tf tl (time_of P o) -> together W W' real (place_at ie c) (place_at ie c') o.
  Proof.
    intros s v ie c c' x x' first last tf tl o [[h u] u'] Hs Hx Hx' Hf Hl H Hp Hi Hin d d' Hd.
    pose proof (piece_hints _ _ _ Hp) as Hh. destruct Hi as (_ & Hox & Hod & Hot & Hr & _ & Hw & _ & Hw').
    set (ke := instance e h (arguments_of o) []) in *. rewrite Hw, Hw' in Hd. apply in_map_pairs in Hd as (q & q' & Hq & -> & ->).
    assert (Hgoals : Forall refuted (
      if String.eqb (fst q') (fst c') || (is_real U h && String.eqb (fst q) (fst c)) then
        let '(_, _, k, s1) := some_instance h c0 s in
        match linear_all [(k, snd q); (k, snd q'); (k, shape_time h)] s1 with
        | ([y; y'; now], s2) =>
            (if String.eqb (fst q') (fst c')
             then [exclude (both (same_place y' x' :: unlike q c y x :: within first last now)) s2] else []) ++
            (if is_real U h && String.eqb (fst q) (fst c)
             then [exclude (both (same_place y x :: unlike q' c' y' x' :: within first last now)) s2] else [])
        | _ => unfit
        end
      else [])).
    { apply Forall_forall. intros gl Hgl. rewrite Forall_forall in H. apply H. unfold together_goals. apply in_flat_map.
      exists (q, q'). split; [exact Hq | exact Hgl]. }
    destruct (some_instance h c0 s) as [[[ks ?] k] s1] eqn:E1.
    destruct (instance_stands _ _ _ _ _ _ _ _ Hh E1 Hs Hox Hod) as (w1 & [Hm1 _] & _ & Hk). fold ke in Hk.
    destruct (linear_all [(k, snd q); (k, snd q'); (k, shape_time h)] s1) as [ls s2] eqn:E2.
    destruct (linear_all_models [((k, snd q), ke); ((k, snd q'), ke); ((k, shape_time h), ke)] s1 ls s2 _ E2 Hm1
      ltac:(repeat constructor; assumption)) as (w2 & Hm2 & Hls).
    inversion Hls as [|? y ? ls1 Hy Hl1]; subst. inversion Hl1 as [|? y' ? ls2 Hy' Hl2]; subst.
    inversion Hl2 as [|? now ? ls3 Hnow Hl3]; subst. inversion Hl3; subst. cbn [fst snd] in *. rewrite Hot in Hin.
    set (v2 := (v ++ w1) ++ w2) in *.
    assert (Hup : forall l zs, denote_all v l zs -> denote_all v2 l zs) by (intros; unfold v2; do 2 apply denote_all_more; assumption).
    assert (Hwithin : Forall (true_at v2) (within first last now)).
    { apply (within_true v2 first last now tf tl (map (eval ke) (shape_time h))); [| |exact Hnow | exact Hin].
      - destruct first, tf; cbn [denote_bound] in *; auto.
      - destruct last, tl; cbn [denote_bound] in *; auto. }
    split.
    - intros Heq. destruct (cell_dec (place_at ke q) (place_at ie c)) as [He | Hne]; [exact He|]. exfalso.
      unfold place_at in Heq. injection Heq as Hname Hsub. rewrite Hname, String.eqb_refl in Hgoals. cbn [orb] in Hgoals.
      apply Forall_app in Hgoals as [Hgoals _]. inversion Hgoals as [|? ? Hgoal _]; subst.
      apply (refuted_state _ _ _ Hgoal Hm2). apply both_true. constructor; [|constructor; [|exact Hwithin]].
      + apply (same_place_true _ _ _ _ Hy'). rewrite Hsub. apply Hup, Hx'.
      + exact (unlike_true _ _ _ _ _ _ _ Hy (Hup _ _ Hx) Hne).
    - intros Hreal Heq. destruct (cell_dec (place_at ke q') (place_at ie c')) as [He | Hne]; [exact He|]. exfalso. rewrite Hr in Hreal.
      unfold place_at in Heq. injection Heq as Hname Hsub. rewrite Hname, Hreal, String.eqb_refl, orb_true_r in Hgoals.
      apply Forall_app in Hgoals as [_ Hgoals]. cbn [andb] in Hgoals. inversion Hgoals as [|? ? Hgoal _]; subst.
      apply (refuted_state _ _ _ Hgoal Hm2). apply both_true. constructor; [|constructor; [|exact Hwithin]].
      + apply (same_place_true _ _ _ _ Hy). rewrite Hsub. apply Hup, Hx.
      + exact (unlike_true _ _ _ _ _ _ _ Hy' (Hup _ _ Hx') Hne).
  Qed.

  Lemma nth_map_pairs : forall (i : env) l l' k q q', nth_error (combine l l') k = Some (q, q') ->
    In (place_at i q, place_at i q') (combine (map (place_at i) l) (map (place_at i) l')).
  Proof.
    intros i. induction l as [|r l IH]; intros [|r' l'] [|k] q q' H; try discriminate; cbn [combine nth_error map] in *.
    - injection H as -> ->. left. reflexivity.
    - right. exact (IH l' k q q' H).
  Qed.

  (** Why two cells hold the same, at the time of an instance of [h] with the arguments [z], or at the end. *)
  Definition explained (ends : bool) (h : shape) (z : list Z) (c c' : cell) : Prop :=
    let until := if ends then None else Some (map (eval (instance e h z [])) (shape_time h)) in
    (is_kept U (fst c) = true /\ c = c') \/
    (is_left U (fst c) = true /\ c = c' /\ forall o, scheduled P o -> inside None until (time_of P o) -> together W W' real c c' o) \/
    exists a, scheduled P a /\ In (c, c') (combine (W a) (W' a)) /\ inside None until (time_of P a) /\
      forall o, scheduled P o -> inside (Some (time_of P a)) until (time_of P o) -> together W W' real c c' o.

  Lemma read_sound : forall ends s v h z c c' how, shape_hints h = [] -> stands v s ->
    List.length z = List.length (shape_arguments h) -> decide (instance e h z []) (shape_domain h) = true ->
    Forall refuted (read_goals (is_kept U) (is_left U) (is_real U) (pieces U) c0 ends s h c c' how) ->
    explained ends h z (place_at (instance e h z []) c) (place_at (instance e h z []) c').
  Proof.
    intros ends s v h z0 c c' how Hh Hs Hbx Hbd H. unfold explained. set (i := instance e h z0 []) in *.
    destruct how as [| |o]; cbn [read_goals] in H.
    { destruct (is_kept U (fst c)) eqn:Hk; [|destruct (unfit_false H)]. left. split; [exact Hk|].
      exact (alike_sound h s v z0 c c' Hh Hs Hbx Hbd H). }
    { right. left. destruct (is_left U (fst c) && String.eqb (fst c) (fst c')) eqn:Hk; [|destruct (unfit_false H)].
      apply andb_prop in Hk as [Hk Hname]. apply String.eqb_eq in Hname. split; [exact Hk|].
      destruct (some_instance h c0 s) as [[[xs ys] ci] s1] eqn:E1.
      destruct (instance_stands _ _ _ _ _ _ _ _ Hh E1 Hs Hbx Hbd) as (w1 & [Hm1 Hc1] & _ & Hci). fold i in Hci.
      destruct (linear_all [(ci, snd c); (ci, snd c'); (ci, shape_time h)] s1) as [ls s2] eqn:E2.
      destruct (linear_all_models [((ci, snd c), i); ((ci, snd c'), i); ((ci, shape_time h), i)] s1 ls s2 _ E2 Hm1
        ltac:(repeat constructor; assumption)) as (w2 & Hm2 & Hls).
      inversion Hls as [|? x ? ls1 Hx Hl1]; subst. inversion Hl1 as [|? x' ? ls2 Hx' Hl2]; subst.
      inversion Hl2 as [|? last ? ls3 Hlast Hl3]; subst. inversion Hl3; subst. cbn [fst snd] in *.
      inversion H as [|? ? Hgoal Hothers]; subst. split.
      - unfold place_at. rewrite Hname. f_equal. apply (apart_equal _ _ _ _ _ Hx Hx'). exact (refuted_state _ _ _ Hgoal Hm2).
      - intros k Hk' Hin. destruct (scheduled_piece k Hk') as (p & Hpk & Hik).
        refine (together_sound s2 ((v ++ w1) ++ w2) i c c' x x' None (if ends then None else Some last)
          None (if ends then None else Some (map (eval i) (shape_time h))) k p _ Hx Hx' _ _ _ Hpk Hik Hin).
        + split; [exact Hm2 | apply agrees_more; exact Hc1].
        + exact I.
        + destruct ends; [exact I | exact Hlast].
        + apply Forall_forall. intros gl Hgl. rewrite Forall_forall in Hothers. apply Hothers. apply in_flat_map. exists p. auto. }
    right. right. destruct (find_piece (pieces U) (origin_statement o)) as [[[g w] w']|] eqn:Eg; [|destruct (unfit_false H)].
    destruct (nth_error (combine (may_write w) (may_write w')) (origin_write o)) as [[q q']|] eqn:Eq; [|destruct (unfit_false H)].
    destruct (String.eqb (fst c) (fst q) && String.eqb (fst c') (fst q') &&
      Nat.eqb (List.length (origin_arguments o)) (List.length (shape_arguments g))) eqn:Ecmp; [|destruct (unfit_false H)].
    apply andb_prop in Ecmp as [Ecmp Elen]. apply andb_prop in Ecmp as [Ename Ename']. apply String.eqb_eq in Ename, Ename'.
    apply Nat.eqb_eq in Elen. apply find_some in Eg as [Hg _]. pose proof (piece_hints _ _ _ Hg) as Hgh.
    destruct (some_instance h c0 s) as [[[xs ys] ci] s1] eqn:E1.
    destruct (instance_stands _ _ _ _ _ _ _ _ Hh E1 Hs Hbx Hbd) as (w1 & [Hm1 Hc1] & _ & Hci). fold i in Hci.
    destruct (linear_list ci (origin_arguments o) s1) as [as_ s2] eqn:E2.
    destruct (linear_list_models _ _ _ _ _ _ _ E2 Hci Hm1) as (w2 & Hm2 & Has).
    set (z := map (eval i) (origin_arguments o)) in *. set (j := instance e g z []).
    set (cj := combine (shape_arguments g) as_ ++ c0) in *.
    assert (Hcj : agrees j cj ((v ++ w1) ++ w2)).
    { unfold j, cj. rewrite (instance_no_hints e g z [] Hgh). apply agrees_app; [apply agrees_combine, Has | apply agrees_more, Hc1]. }
    destruct (known cj false (shape_domain g) s2) as [outside s3] eqn:E3.
    destruct (known_models _ _ _ _ _ _ _ _ E3 Hcj Hm2) as (w3 & Hm3 & Hout).
    set (v3 := ((v ++ w1) ++ w2) ++ w3) in *.
    assert (Hi3 : agrees i ci v3) by (do 2 apply agrees_more; exact Hci).
    assert (Hj3 : agrees j cj v3) by (apply agrees_more; exact Hcj).
    destruct (linear_all [(ci, snd c); (cj, snd q); (ci, snd c'); (cj, snd q'); (cj, shape_time g); (ci, shape_time h)] s3) as [ls s4] eqn:E4.
    destruct (linear_all_models [((ci, snd c), i); ((cj, snd q), j); ((ci, snd c'), i); ((cj, snd q'), j); ((cj, shape_time g), j); ((ci, shape_time h), i)]
      s3 ls s4 v3 E4 Hm3 ltac:(repeat constructor; assumption)) as (w4 & Hm4 & Hls).
    inversion Hls as [|? x ? ls1 Hx Hl1]; subst. inversion Hl1 as [|? y ? ls2 Hy Hl2]; subst. inversion Hl2 as [|? x' ? ls3 Hx' Hl3]; subst.
    inversion Hl3 as [|? y' ? ls4 Hy' Hl4]; subst. inversion Hl4 as [|? first ? ls5 Hfirst Hl5]; subst.
    inversion Hl5 as [|? last ? ls6 Hlast Hl6]; subst. inversion Hl6; subst. cbn [fst snd] in *. clear Hl1 Hl2 Hl3 Hl4 Hl5 Hl6.
    set (v4 := v3 ++ w4) in *. inversion H as [|? ? Hgoal Hothers]; subst. clear H.
    assert (Hno : forall f, In f ([outside; apart x y; apart x' y'] ++ if ends then [] else [not_earlier first last]) -> ~ true_at v4 f).
    { intros f Hf Ht. apply (refuted_state _ _ _ Hgoal Hm4). apply either_true, Exists_exists. exists f. auto. }
    assert (Hzlen : List.length z = List.length (shape_arguments g)) by (unfold z; rewrite map_length; exact Elen).
    assert (Hzdom : decide j (shape_domain g) = true).
    { destruct (decide j (shape_domain g)) eqn:Hd; [reflexivity|]. exfalso. apply (Hno outside); [left; reflexivity|].
      apply true_at_more. apply Hout. reflexivity. }
    assert (Hcell : place_at i c = place_at j q).
    { unfold place_at. rewrite Ename. f_equal. apply (apart_equal _ _ _ _ _ Hx Hy). apply Hno. right. left. reflexivity. }
    assert (Hcell' : place_at i c' = place_at j q').
    { unfold place_at. rewrite Ename'. f_equal. apply (apart_equal _ _ _ _ _ Hx' Hy'). apply Hno. do 2 right. left. reflexivity. }
    destruct (piece_instance g w w' z Hg Hzlen Hzdom) as (Ha & _ & _ & _ & Hat & _ & _ & Hw & _ & Hw').
    cbn [arguments_of] in Hat, Hw, Hw'. fold j in Hat, Hw, Hw'. set (a := Event (shape_name g) z []) in *.
    exists a. rewrite Hat. split; [exact Ha | split; [|split]].
    - rewrite Hw, Hw', Hcell, Hcell'. exact (nth_map_pairs j _ _ _ _ _ Eq).
    - split; [exact I|]. destruct ends; [exact I|].
      destruct (lex_lt_dec (map (eval j) (shape_time g)) (map (eval i) (shape_time h))) as [Hlt | Hnot]; [exact Hlt|].
      exfalso. apply (Hno (not_earlier first last)); [cbn; auto|]. exact (not_earlier_true _ _ _ _ _ Hfirst Hlast Hnot).
    - intros k Hk Hin. destruct (scheduled_piece k Hk) as (p & Hpk & Hik).
      refine (together_sound s4 v4 i c c' x x' (Some first) (if ends then None else Some last)
        (Some (map (eval j) (shape_time g))) (if ends then None else Some (map (eval i) (shape_time h))) k p _ Hx Hx' Hfirst _ _ Hpk Hik Hin).
      + split; [exact Hm4 | do 3 apply agrees_more; exact Hc1].
      + destruct ends; [exact I | exact Hlast].
      + apply Forall_forall. intros gl Hgl. rewrite Forall_forall in Hothers. apply Hothers. apply in_flat_map. exists p. auto.
  Qed.

  Lemma cases_sound : forall ends s v h z c c' k, shape_hints h = [] -> stands v s ->
    List.length z = List.length (shape_arguments h) -> decide (instance e h z []) (shape_domain h) = true ->
    Forall refuted (cases_goals (is_kept U) (is_left U) (is_real U) (pieces U) c0 ends s h c c' k) ->
    explained ends h z (place_at (instance e h z []) c) (place_at (instance e h z []) c').
  Proof.
    intros ends s v h z c c' k Hh Hs Hx Hd H. unfold cases_goals in H. set (i := instance e h z []) in *.
    destruct (some_instance h c0 s) as [[[xs ys] ci] s1] eqn:E1.
    destruct (instance_stands _ _ _ _ _ _ _ _ Hh E1 Hs Hx Hd) as (w1 & [Hm1 _] & _ & Hci). fold i in Hci.
    destruct (known ci false (Or (map fst k)) s1) as [none s2] eqn:E2.
    destruct (known_models _ _ _ _ _ _ _ _ E2 Hci Hm1) as (w2 & Hm2 & Hnone).
    inversion H as [|? ? Hgoal Hcases]; subst.
    assert (Hsome : existsb (decide i) (map fst k) = true).
    { destruct (existsb (decide i) (map fst k)) eqn:E; [reflexivity|]. exfalso. apply (refuted_state _ _ _ Hgoal Hm2). apply Hnone. exact E. }
    apply existsb_exists in Hsome as (t & Ht & Htrue). apply in_map_iff in Ht as ([t' how] & Heq & Hin). cbn [fst] in Heq. subst t'.
    apply (read_sound ends s v (such_that h t) z c c' how Hh Hs Hx).
    - cbn [such_that shape_domain decide forallb]. change (instance e (such_that h t) z []) with i. rewrite Hd, Htrue. reflexivity.
    - apply Forall_forall. intros gl Hgl. rewrite Forall_forall in Hcases. apply Hcases. apply in_flat_map. exists (t, how). auto.
  Qed.

  Lemma reads_goals_each : forall s h cs os, Forall refuted (reads_goals (is_kept U) (is_left U) (is_real U) (pieces U) c0 s h cs os) ->
    forall c c', In (c, c') cs -> exists o, Forall refuted (cases_goals (is_kept U) (is_left U) (is_real U) (pieces U) c0 false s h c c' o).
  Proof.
    intros s h. induction cs as [|[d d'] cs IH]; intros [|o os] H c c' Hin; try (destruct Hin; fail); cbn [reads_goals] in H;
      [destruct (unfit_false H)|]. apply Forall_app in H as [H1 H2]. destruct Hin as [Heq | Hin]; [|exact (IH os H2 c c' Hin)].
    injection Heq as -> ->. exists o. exact H1.
  Qed.

  Lemma all_reads_each : forall s ps os, Forall refuted (all_reads_goals (is_kept U) (is_left U) (is_real U) (pieces U) c0 s ps os) ->
    forall h u u', In (h, u, u') ps -> exists o, Forall refuted (reads_goals (is_kept U) (is_left U) (is_real U) (pieces U) c0 s h (combine (may_read u) (may_read u')) o).
  Proof.
    intros s. induction ps as [|[[g w] w'] ps IH]; intros [|o os] H h u u' Hin; try (destruct Hin; fail); cbn [all_reads_goals] in H;
      [destruct (unfit_false H)|]. apply Forall_app in H as [H1 H2]. destruct Hin as [Heq | Hin]; [|exact (IH os H2 h u u' Hin)].
    injection Heq as -> -> ->. exists o. exact H1.
  Qed.

  (** In a trace by the times of the middle, which are all different. *)
  Section Middle.
    Variables (s : state) (v : list Z) (t : trace).
    Hypothesis Hs : stands v s.
    Hypothesis Hall : forall ev, In ev t <-> scheduled P ev.
    Hypothesis Honce : NoDup t.
    Hypothesis Hsorted : StronglySorted (in_time P) t.
    Hypothesis Hdiffer : forall a b, scheduled P a -> scheduled P b -> time_of P a = time_of P b -> a = b.

    Lemma precedes_sooner : forall x y, precedes t x y -> lex_lt (time_of P x) (time_of P y).
    Proof.
      intros x y Hxy. destruct (precedes_in _ _ _ _ Hxy) as [Hx Hy]. apply Hall in Hx. apply Hall in Hy.
      destruct (lex_lt_total (time_of P x) (time_of P y)) as [Hl | [Hl | Hl]]; [exact Hl | |].
      - apply (Hdiffer x y Hx Hy) in Hl. subst y. destruct (precedes_asym _ _ _ _ Honce Hxy Hxy).
      - destruct (sorted_precedes _ _ _ _ Hsorted Hxy Hl).
    Qed.

    (** [l] are the instances before a time, or all. *)
    Lemma explained_in : forall ends h z c c' l r, explained ends h z c c' -> t = l ++ r ->
      (forall o, In o t -> inside None (if ends then None else Some (map (eval (instance e h z [])) (shape_time h))) (time_of P o) <-> In o l) ->
      (is_kept U (fst c) = true /\ c = c') \/ has_origin W W' real l c c' \/ since_beginning W W' real (is_left U) l c c'.
    Proof.
      intros ends h z c c' l r Hex Ht Hl. unfold explained in Hex.
      set (until := if ends then None else Some (map (eval (instance e h z [])) (shape_time h))) in *.
      assert (Hsub : forall o, In o l -> In o t) by (intros o Ho; rewrite Ht; apply in_or_app; left; exact Ho).
      destruct Hex as [Hk | [(Hleft & Heq & Ho) | (a & Ha & Hin & Hbefore & Ho)]]; [left; exact Hk | right; right | right; left].
      - split; [exact Hleft | split; [exact Heq|]]. apply Forall_forall. intros o Hin.
        apply Ho; [apply Hall, Hsub, Hin | apply Hl; [apply Hsub, Hin | exact Hin]].
      - apply Hall in Ha as Hat. assert (Hal : In a l) by (apply Hl; assumption).
        apply in_split in Hal as (l1 & l2 & ->). exists l1, a, l2. split; [reflexivity | split; [exact Hin|]].
        apply Forall_forall. intros o Hol. assert (Hin' : In o (l1 ++ a :: l2)) by (apply in_or_app; right; exact Hol).
        apply Ho; [apply Hall, Hsub, Hin'|]. destruct (proj2 (Hl o (Hsub o Hin')) Hin') as [_ Hlast]. split; [|exact Hlast].
        destruct Hol as [<- | Hol]; [apply lex_lt_irreflexive|]. apply lex_lt_asymmetric, precedes_sooner. rewrite Ht.
        apply in_split in Hol as (k1 & k2 & ->). exists l1, k1, (k2 ++ r). rewrite <- app_assoc. cbn [app]. rewrite <- app_assoc. reflexivity.
    Qed.

    Lemma reads_sound : Forall refuted (all_reads_goals (is_kept U) (is_left U) (is_real U) (pieces U) c0 s (pieces U) (seen U)) ->
      forall l b r c c', t = l ++ b :: r -> In (c, c') (combine (R b) (R' b)) ->
      (is_kept U (fst c) = true /\ c = c') \/ has_origin W W' real l c c' \/ since_beginning W W' real (is_left U) l c c'.
    Proof.
      intros H l b r c c' Ht Hc. assert (Hb : scheduled P b) by (apply Hall; rewrite Ht; apply in_elt).
      destruct (scheduled_piece b Hb) as ([[h u] u'] & Hp & _ & Hbx & Hbd & Hbt & _ & Hr & _ & Hr' & _).
      rewrite Hr, Hr' in Hc. apply in_map_pairs in Hc as (q & q' & Hq & -> & ->).
      destruct (all_reads_each _ _ _ H _ _ _ Hp) as [os Hos]. destruct (reads_goals_each _ _ _ _ Hos _ _ Hq) as [o Ho].
      pose proof (cases_sound false s v h (arguments_of b) q q' o (piece_hints _ _ _ Hp) Hs Hbx Hbd Ho) as Hex.
      apply (explained_in _ _ _ _ _ l (b :: r) Hex Ht). rewrite <- Hbt. intros k Hk. cbn [inside]. split.
      - intros [_ Hlt]. rewrite Ht in Hk. apply in_app_iff in Hk as [Hk | [<- | Hk]]; [exact Hk | destruct (lex_lt_irreflexive _ Hlt)|]. exfalso.
        apply in_split in Hk as (r1 & r2 & ->). apply (lex_lt_asymmetric _ _ Hlt), precedes_sooner. rewrite Ht. exists l, r1, r2. reflexivity.
      - intros Hkl. split; [exact I|]. apply precedes_sooner. rewrite Ht. apply in_split in Hkl as (l1 & l2 & ->). exists l1, l2, r.
        rewrite <- app_assoc. reflexivity.
    Qed.

    Lemma lookup_names : forall xs (z : list Z) env, different xs = true -> List.length z = List.length xs ->
      map (eval (combine xs z ++ env)) (map Var xs) = z.
    Proof.
      induction xs as [|x xs IH]; intros [|y z] env Hd Hlen; try discriminate; [reflexivity|]. cbn [different] in Hd.
      apply andb_prop in Hd as [Hx Hd]. apply negb_true_iff in Hx. cbn [map combine app eval lookup]. rewrite String.eqb_refl. f_equal.
      rewrite <- (IH z env Hd ltac:(cbn in Hlen; lia)) at 2. rewrite !map_map. apply map_ext_in. intros w Hw. cbn [eval lookup].
      destruct (String.eqb_spec w x) as [-> | _]; [|reflexivity]. exfalso.
      assert (Htrue : existsb (String.eqb x) xs = true) by (apply existsb_exists; exists x; split; [exact Hw | apply String.eqb_refl]). congruence.
    Qed.

    Lemma left_sound : Forall refuted (flat_map (left_goals (is_kept U) (is_left U) (is_real U) (pieces U) c0 s) (left U)) ->
      forallb (fun one : leaving => different (snd (fst one))) (left U) = true ->
      (forall u, In u (all_before U) \/ In u (all_after U) -> forallb (fits_left U) (may_write u) = true) ->
      forall c, is_left U (fst c) = true -> is_kept U (fst c) = true \/ has_origin W W' real t c c \/ since_beginning W W' real (is_left U) t c c.
    Proof.
      intros H Hdifferent Hfits [a z] Hleft. pose proof Hleft as Hl. unfold is_left in Hl. cbn [fst] in Hl.
      apply existsb_exists in Hl as ([[b xs] k] & Hone & Hname). cbn [fst] in Hname. apply String.eqb_eq in Hname. subst b.
      destruct (Nat.eq_dec (List.length z) (List.length xs)) as [Hlen | Hlen].
      - rewrite forallb_forall in Hdifferent. specialize (Hdifferent _ Hone). cbn [fst snd] in Hdifferent.
        assert (Hgoals : Forall refuted (left_goals (is_kept U) (is_left U) (is_real U) (pieces U) c0 s (a, xs, k))).
        { apply Forall_forall. intros gl Hgl. rewrite Forall_forall in H. apply H. apply in_flat_map. exists (a, xs, k). auto. }
        pose proof (cases_sound true s v (cells_of_array (a, xs, k)) z _ _ _ eq_refl Hs Hlen eq_refl Hgoals) as Hex.
        unfold cell_left, place_at in Hex. cbn [fst snd] in Hex.
        rewrite (instance_no_hints e (cells_of_array (a, xs, k)) z [] eq_refl) in Hex. cbn [cells_of_array shape_arguments fst snd] in Hex.
        rewrite (lookup_names xs z e Hdifferent Hlen) in Hex.
        destruct (explained_in _ _ _ _ _ t [] Hex (eq_sym (app_nil_r t))) as [[Hk _] | Hrest]; [|left; exact Hk | right; exact Hrest].
        intros o Ho. split; [intros _; exact Ho | intros _; split; exact I].
      - right. right. split; [exact Hleft | split; [reflexivity|]]. apply Forall_forall. intros o Ho d d' Hd.
        destruct (scheduled_piece o (proj1 (Hall o) Ho)) as ([[h u] u'] & Hp & _ & _ & _ & _ & _ & _ & Hw & _ & Hw').
        destruct (piece_parts _ _ _ Hp) as (_ & Hu & Hu'). rewrite Hw, Hw' in Hd. apply in_map_pairs in Hd as (q & q' & Hq & -> & ->).
        assert (Hno : forall p w, In p (may_write w) -> In w (all_before U) \/ In w (all_after U) -> forall i, place_at i p <> (a, z)).
        { intros p w Hpw Hw0 i Heq. specialize (Hfits w Hw0). rewrite forallb_forall in Hfits. specialize (Hfits p Hpw). unfold fits_left in Hfits.
          rewrite forallb_forall in Hfits. specialize (Hfits _ Hone). cbn [fst snd] in Hfits. unfold place_at in Heq. injection Heq as H1 H2.
          rewrite H1, String.eqb_refl in Hfits. cbn [negb orb] in Hfits. apply Nat.eqb_eq in Hfits. apply Hlen. rewrite <- H2, map_length. exact Hfits. }
        split; intros; exfalso.
        + eapply (Hno q' u'); [exact (in_combine_r _ _ _ _ Hq) | right; exact (in_combine_r _ _ _ _ Hu') | eassumption].
        + eapply (Hno q u); [exact (in_combine_l _ _ _ _ Hq) | left; exact (in_combine_r _ _ _ _ Hu) | eassumption].
    Qed.
  End Middle.
End Sound.

Lemma run_ext : forall (value : Type) (f g : event -> memory value -> memory value) t, (forall ev, In ev t -> f ev = g ev) ->
  forall m, run f t m = run g t m.
Proof.
  intros value f g. unfold run. induction t as [|o t IH]; intros H m; [reflexivity|]. cbn [fold_left].
  rewrite (H o (or_introl eq_refl)). apply IH. intros ev Hev. apply H. right. exact Hev.
Qed.

Lemma combine_front : forall (hs hs' : list shape) (us us' : list use), List.length us = List.length hs ->
  combine (hs ++ hs') (us ++ us') = combine hs us ++ combine hs' us'.
Proof.
  induction hs as [|h hs IH]; intros hs' [|u us] us' H; try discriminate; [reflexivity|]. cbn [app combine]. f_equal. apply IH. cbn in H. lia.
Qed.

Lemma find_retimed_use : forall f hs ts (us : list use) ev pick e,
  cells_in (combine (retimed f hs ts) us) pick e ev = cells_in (combine hs us) pick e ev.
Proof.
  intros f hs ts us ev pick e. unfold cells_in. revert ts us.
  induction hs as [|h hs IH]; intros [|t ts] [|u us]; try reflexivity. cbn [retimed combine List.find fst with_time shape_name shape_arguments].
  destruct (String.eqb (name_of ev) (shape_name h)); [reflexivity | apply IH].
Qed.

Lemma cells_front : forall l k pick e ev, existsb (fun hu : shape * use => String.eqb (name_of ev) (shape_name (fst hu))) l = true ->
  cells_in (l ++ k) pick e ev = cells_in l pick e ev.
Proof.
  intros l k pick e ev. unfold cells_in. induction l as [|[h u] l IH]; cbn [existsb app List.find fst]; [discriminate|].
  destruct (String.eqb (name_of ev) (shape_name h)); [reflexivity | exact IH].
Qed.

Lemma named_use : forall hs (us : list use) ev, List.length us = List.length hs ->
  existsb (fun hu : shape * use => String.eqb (name_of ev) (shape_name (fst hu))) (combine hs us) = named hs ev.
Proof.
  unfold named. induction hs as [|h hs IH]; intros [|u us] ev H; try discriminate; [reflexivity|]. cbn [combine existsb fst].
  rewrite IH; [reflexivity | cbn in H; lia].
Qed.

Lemma named_retimed : forall f hs ts ev, named (retimed f hs ts) ev = named hs ev.
Proof.
  unfold named. intros f. induction hs as [|h hs IH]; intros [|t ts] ev; try reflexivity. cbn [retimed existsb with_time shape_name].
  rewrite IH. reflexivity.
Qed.

Lemma distinct_front : forall l k, distinct (l ++ k) = true -> distinct l = true.
Proof.
  induction l as [|h l IH]; intros k H; [reflexivity|]. cbn [app distinct] in *. apply andb_prop in H as [H H2]. apply andb_prop in H as [H H1].
  rewrite existsb_app in H. apply negb_true_iff, orb_false_iff in H as [H _]. rewrite H, H1, (IH k H2). reflexivity.
Qed.

(** Instances that the original does not have are copies. *)
Lemma copies_named : forall U e ev, distinct (all_shapes U) = true -> scheduled (poly_of (all_shapes U) e) ev ->
  named (shapes (written U)) ev = false -> named (copying U) ev = true.
Proof.
  intros U e [f x y] _ Hev Hno. apply scheduled_instance in Hev. unfold has_instance in Hev. cbn [name_of arguments_of hint_of] in Hev.
  destruct (find_shape (all_shapes U) f (List.length x) (List.length y)) as [h|] eqn:E; [|contradiction].
  apply find_shape_known in E as (Hin & <- & _). unfold all_shapes in Hin. apply in_app_iff in Hin as [Hin | Hin].
  - rewrite <- (named_retimed (fun _ t => t) _ (middle_times U)) in Hno. exfalso.
    assert (Htrue : named (retimed (fun _ t => t) (shapes (written U)) (middle_times U)) (Event (shape_name h) x y) = true).
    { apply existsb_exists. exists h. split; [exact Hin | apply String.eqb_refl]. }
    congruence.
  - apply existsb_exists. exists h. split; [exact Hin | apply String.eqb_refl].
Qed.

Lemma in_back : forall (hs hs' : list shape) (us us' ws ws' : list use) h u w,
  List.length us = List.length hs -> List.length ws = List.length hs ->
  In (h, u, w) (combine (combine (hs ++ hs') (us ++ us')) (ws ++ ws')) ->
  In h hs \/ In (h, u, w) (combine (combine hs' us') ws').
Proof.
  induction hs as [|g hs IH]; intros hs' [|u0 us] us' [|w0 ws] ws' h u w H1 H2 Hin; try discriminate; [right; exact Hin|].
  cbn [app combine] in Hin. destruct Hin as [Heq | Hin]; [injection Heq as <- <- <-; left; left; reflexivity|].
  destruct (IH hs' us us' ws ws' h u w ltac:(cbn in *; lia) ltac:(cbn in *; lia) Hin); [left; right; assumption | right; assumption].
Qed.

Lemma copy_pieces : forall U e, distinct (all_shapes U) = true ->
  List.length (all_before U) = List.length (all_shapes U) -> List.length (all_after U) = List.length (all_shapes U) ->
  List.length (uses_before U) = List.length (shapes (written U)) -> List.length (uses_after U) = List.length (shapes (written U)) ->
  forall ev, scheduled (poly_of (all_shapes U) e) ev -> named (shapes (written U)) ev = false ->
  exists q, In q (copies U) /\ exists d d1 d2,
    cells_in (combine (all_shapes U) (all_before U)) may_read e ev = [d] /\ cells_in (combine (all_shapes U) (all_before U)) may_write e ev = [d] /\
    cells_in (combine (all_shapes U) (all_after U)) may_read e ev = [d1] /\ cells_in (combine (all_shapes U) (all_after U)) may_write e ev = [d2] /\
    fst d2 = fst (copied_to q).
Proof.
  intros U e Hdistinct Hub Hua Hl2 Hl3 ev Hev Hno.
  destruct (scheduled_piece U e Hdistinct Hub Hua ev Hev) as ([[h w] w'] & Hin & Heq & _ & _ & _ & _ & E1 & E2 & E3 & E4).
  unfold pieces, all_shapes, all_before, all_after in Hin. apply in_back in Hin as [Hin | Hin]; try (rewrite retimed_length; assumption).
  - exfalso. rewrite <- (named_retimed (fun _ t => t) _ (middle_times U)) in Hno.
    assert (Htrue : named (retimed (fun _ t => t) (shapes (written U)) (middle_times U)) ev = true).
    { apply existsb_exists. exists h. split; [exact Hin|]. rewrite Heq. apply String.eqb_refl. }
    congruence.
  - assert (Hmap : forall (l : list shape) qs, In (h, w, w') (combine (combine l (map (fun c => Use [copied c] [copied c] None) qs))
        (map (fun c => Use [copied_from c] [copied_to c] None) qs)) ->
        exists q, In q qs /\ w = Use [copied q] [copied q] None /\ w' = Use [copied_from q] [copied_to q] None).
    { induction l as [|g l IH]; intros [|q qs] H; try (destruct H; fail). cbn [map combine] in H. destruct H as [H | H].
      - injection H as -> <- <-. exists q. repeat split. left. reflexivity.
      - destruct (IH qs H) as (q' & Hq & ?). exists q'. split; [right; exact Hq | assumption]. }
    destruct (Hmap _ _ Hin) as (q & Hq & -> & ->). exists q. split; [exact Hq|]. rewrite E1, E2, E3, E4. cbn [may_read may_write map].
    do 3 eexists. repeat split.
Qed.

(** ** The theorem

    Two programs that pass the check leave the same memory except in the arrays
    that were replaced: for all values of the parameters, all memories, and
    whatever the instances compute. *)
Theorem check_same_values : forall U n n' how how' cs, check_stored U n n' how how' cs = true ->
  forall p, context (meant (written U)) p ->
  compute_the_same_values U (environment (meant (written U)) p) n n'.
Proof.
  intros U n n' how how' cs H p Hp. set (e := environment (meant (written U)) p).
  unfold check_stored in H. apply andb_prop in H as [Hwell H]. apply refutes_all_sound in H. unfold stored_goals in H.
  destruct (beginning (original (last_change U))) as [c s] eqn:Eb.
  apply Forall_app in H as [Hold H]. apply Forall_app in H as [Hnew H]. apply Forall_app in H as [Hfirst H]. apply Forall_app in H as [Hlast H].
  apply Forall_app in H as [Hpar H]. apply Forall_app in H as [Hties H]. apply Forall_app in H as [Hwrites H]. apply Forall_app in H as [Hreads Hleft].
  unfold well_formed_stored in Hwell.
  apply andb_prop in Hwell as [Hwell Hnoties]. apply andb_prop in Hwell as [Hwell Hto]. apply andb_prop in Hwell as [Hwell Hplain'].
  apply andb_prop in Hwell as [Hwell Hplain]. apply andb_prop in Hwell as [Hwell Hpaired].
  apply andb_prop in Hwell as [Hwell Hdifferent]. apply andb_prop in Hwell as [Hwell Hfits']. apply andb_prop in Hwell as [Hwell Hfits].
  apply andb_prop in Hwell as [Hwell _].
  apply andb_prop in Hwell as [Hwell _]. apply andb_prop in Hwell as [Hwell Hl5]. apply andb_prop in Hwell as [Hwell Hl4].
  apply andb_prop in Hwell as [Hwell Hl3]. apply andb_prop in Hwell as [Hwell Hl2]. apply andb_prop in Hwell as [Hwell Hl1].
  apply andb_prop in Hwell as [Hwell Hdistinct]. apply andb_prop in Hwell as [Hwell _]. apply andb_prop in Hwell as [Hw Hw'].
  apply Nat.eqb_eq in Hl1, Hl2, Hl3, Hl4, Hl5. destruct how as [g k [|tie rest]]; [|discriminate]. clear Hnoties.
  set (hs := shapes (written U)) in *. set (front := retimed (fun _ t => t) hs (middle_times U)) in *.
  assert (Hfrontlen : List.length front = List.length hs) by apply retimed_length.
  assert (Hdfront : distinct front = true) by exact (distinct_front _ _ Hdistinct).
  assert (Hdhs : distinct hs = true) by (unfold front in Hdfront; rewrite retimed_distinct in Hdfront; exact Hdfront).
  assert (Hub : List.length (all_before U) = List.length (all_shapes U)).
  { unfold all_before, all_shapes. fold hs front. rewrite !app_length, map_length. lia. }
  assert (Hua : List.length (all_after U) = List.length (all_shapes U)).
  { unfold all_after, all_shapes. fold hs front. rewrite !app_length, map_length. lia. }
  (* the traces *)
  destruct (goals_implement _ _ _ Hw Hold) as [_ Himpl]. destruct (Himpl p Hp) as (t & Hrun & Hsched). clear Himpl.
  change (statements (meant (written U)) p) with (poly_of hs e) in Hsched. fold e in Hrun.
  assert (Hp' : context (meant (changed (last_change U))) p) by exact Hp.
  destruct (goals_implement _ _ _ Hw' Hnew) as [_ Himpl]. destruct (Himpl p Hp') as (t' & Hrun' & Hsched'). clear Himpl.
  change (environment (meant (changed (last_change U))) p) with e in Hrun'.
  set (last := retimed (fun _ t => t) (all_shapes U) (last_times U)) in *.
  change (statements (meant (changed (last_change U))) p) with (poly_of last e) in Hsched'.
  set (P := poly_of (all_shapes U) e) in *. set (P0 := poly_of front e).
  destruct (sorted P t') as (u & Hperm & Hsorted).
  assert (Hall : forall ev, In ev u <-> scheduled P ev).
  { intros ev. unfold P. rewrite (scheduled_alike (fun _ _ => True) _ _ e ev (retimed_alike (all_shapes U) (last_times U))). fold last.
    rewrite <- (all_and_only _ _ Hsched' ev). split; apply Permutation_in; [apply Permutation_sym|]; exact Hperm. }
  assert (Hmiddle : runs_schedule P u).
  { constructor; [exact Hall | exact (Permutation_NoDup Hperm (each_once _ _ Hsched')) | exact Hsorted]. }
  set (real := named hs).
  assert (Hfront : forall ev, (scheduled P0 ev <-> scheduled P ev /\ real ev = true) /\ (scheduled P0 ev -> time_of P0 ev = time_of P ev)).
  { intros ev. unfold real. rewrite <- (named_retimed (fun _ t => t) hs (middle_times U) ev). apply scheduled_front. exact Hdistinct. }
  assert (Hreal0 : runs_schedule P0 (filter real u)).
  { assert (Hin0 : forall ev, In ev (filter real u) <-> scheduled P0 ev).
    { intros ev. rewrite filter_In, Hall. symmetry. apply (Hfront ev). }
    constructor; [exact Hin0 | apply NoDup_filter, (each_once _ _ Hmiddle) |].
    assert (Hsub : forall v, incl v u -> StronglySorted (in_time P) v -> StronglySorted (in_time P0) (filter real v)).
    { induction v as [|a v IH]; intros Hv Hs; [constructor|]. inversion Hs as [|? ? Hs1 Ha]; subst. cbn [filter].
      assert (Hv' : incl v u) by (intros x Hx; apply Hv; right; exact Hx).
      destruct (real a) eqn:Er; [|exact (IH Hv' Hs1)]. constructor; [exact (IH Hv' Hs1)|].
      rewrite Forall_forall in Ha |- *. intros b Hb. apply filter_In in Hb as [Hb Erb]. specialize (Ha b Hb). unfold in_time in *.
      rewrite !(fun x => proj2 (Hfront x)); [exact Ha | |]; apply Hfront; (split; [apply Hall, Hv|]); auto; [left; reflexivity | right; exact Hb]. }
    apply Hsub; [apply incl_refl | exact Hsorted]. }
  (* what is known *)
  destruct (beginning_models _ p _ _ Eb Hp) as (v & Hm & Hc). change (environment (meant (original (last_change U))) p) with e in Hc.
  assert (Hstands : stands e c v s) by (split; assumption).
  pose proof (ties_sound U e Hdistinct Hub Hua c s v Hstands Hties) as Hdiffer. fold P in Hdiffer.
  exists t. split; [exact Hrun | split; [exists t'; exact Hrun'|]].
  intros t0 Ht0 value f Hcopy m m' Hmm x Hx.
  (* from the original to the middle *)
  assert (Hobeys : obeys (stated (first_change U) e) (fun _ y _ => y) (by_values (as_written U) e f)) by (apply by_values_obeys; exact Hplain).
  assert (Hlegal : legal (stated (first_change U) e) (poly_of hs e) P0).
  { constructor.
    - intros ev. apply (scheduled_alike (fun _ _ => True)). apply retimed_alike.
    - intros a b Ha Hb _ Htime. destruct (walked _ _ _ p Hold Hp) as (Hreg & Hcov & _ & Hord). cbn [ties] in Hord. rewrite untied_nothing in Hord.
      exact (times_differ _ _ _ Hreg Hcov Hord a b Ha Hb Htime).
    - intros a b Ha Hb Hcon Hlex. exact (legality_sound (first_change U) p Hdhs Hl1 Hl2 Hfirst Hp a b Ha Hb Hcon Hlex). }
  rewrite (legal_same_memory _ _ _ _ _ Hlegal Hsched Hreal0 value _ _ Hobeys m x).
  (* the storage *)
  set (R := cells_in (combine (all_shapes U) (all_before U)) may_read e).
  set (W := cells_in (combine (all_shapes U) (all_before U)) may_write e).
  set (R' := cells_in (combine (all_shapes U) (all_after U)) may_read e).
  set (W' := cells_in (combine (all_shapes U) (all_after U)) may_write e).
  assert (Hsame : forall ev, In ev (filter real u) -> by_values (as_written U) e f ev = old value f R W ev).
  { intros ev Hev. apply filter_In in Hev as [_ Hev]. unfold by_values, old, R, W, as_written, all_shapes, all_before. fold hs front.
    rewrite combine_front by (rewrite Hfrontlen; exact Hl2). unfold front.
    rewrite !cells_front by (rewrite named_use by (rewrite retimed_length; exact Hl2); rewrite named_retimed; exact Hev).
    rewrite !find_retimed_use. reflexivity. }
  rewrite (run_ext _ _ _ _ Hsame m).
  assert (Hpiece : forall ev, In ev u -> exists q, In q (pieces U) /\ instance_of U e q ev).
  { intros ev Hev. apply (scheduled_piece U e Hdistinct Hub Hua). apply Hall. exact Hev. }
  assert (Hseen : run (old value f R W) (filter real u) m x = run (new value f R' W') u m' x).
  2: { rewrite Hseen. (* from the middle to the new program *)
    change (new value f R' W') with (by_values (as_stored U) e f).
    assert (Hobeys' : obeys (stated (last_change U) e) (fun _ y _ => y) (by_values (as_stored U) e f)).
    { apply (by_values_obeys (last_change U)). cbn [uses last_change all_after]. unfold all_after. rewrite forallb_app, Hplain'. cbn [andb].
      apply forallb_forall. intros w Hin. apply in_map_iff in Hin as (d & <- & _). reflexivity. }
    assert (Hlegal' : legal (stated (last_change U) e) P (poly_of last e)).
    { constructor.
      - intros ev. apply (scheduled_alike (fun _ _ => True)). apply retimed_alike.
      - intros a b Ha Hb _. exact (Hdiffer a b Ha Hb).
      - intros a b Ha Hb Hcon Hlex. exact (legality_sound (last_change U) p Hdistinct Hl5 Hua Hlast Hp a b Ha Hb Hcon Hlex). }
    rewrite (legal_same_memory _ _ _ _ _ Hlegal' Hmiddle Hsched' value _ _ Hobeys' m' x).
    assert (Hind : independent (conflicting (stated (last_change U) e)) e n').
    { unfold parallel_goals in Hpar. rewrite Eb in Hpar. exact (independence_sound (last_change U) e c Hdistinct Hua n' c s e v Hpar Hc Hc Hm). }
    destruct (any_order_alike _ _ _ _ Hobeys' _ _ _ Ht0 (proj1 (walked _ _ _ p Hnew Hp')) Hind) as (t1 & Ht1 & _ & Halike).
    rewrite (runs_deterministic _ _ _ Ht1 _ Hrun') in Halike. apply Halike. }
  assert (Hpr : forall ev, In ev u -> List.length (R ev) = List.length (R' ev)).
  { intros ev Hev. destruct (Hpiece ev Hev) as ([[h w] w'] & Hin & _ & _ & _ & _ & _ & E1 & _ & E2 & _). unfold R, R'. rewrite E1, E2, !map_length.
    rewrite forallb_forall in Hpaired. specialize (Hpaired _ Hin). apply andb_prop in Hpaired as [Hlen _]. apply Nat.eqb_eq, Hlen. }
  assert (Hpw : forall ev, In ev u -> List.length (W ev) = List.length (W' ev)).
  { intros ev Hev. destruct (Hpiece ev Hev) as ([[h w] w'] & Hin & _ & _ & _ & _ & _ & _ & E1 & _ & E2). unfold W, W'. rewrite E1, E2, !map_length.
    rewrite forallb_forall in Hpaired. specialize (Hpaired _ Hin). apply andb_prop in Hpaired as [_ Hlen]. apply Nat.eqb_eq, Hlen. }
  assert (Hkept : forall ev d d', In ev u -> real ev = true -> In (d, d') (combine (W ev) (W' ev)) ->
            is_kept U (fst d) = true \/ is_kept U (fst d') = true -> d = d').
  { intros ev d d' Hev. apply (writes_sound U e Hdistinct Hub Hua c s v Hstands Hwrites ev d d'). apply Hall. exact Hev. }
  assert (Hcopies : forall ev, In ev u -> real ev = false ->
            exists d d1 d2, R ev = [d] /\ W ev = [d] /\ R' ev = [d1] /\ W' ev = [d2] /\ is_kept U (fst d2) = false).
  { intros ev Hev Hno. apply Hall in Hev. destruct (copy_pieces U e Hdistinct Hub Hua Hl2 Hl3 ev Hev Hno) as (q & Hq & Hcells).
    destruct Hcells as (d & d1 & d2 & E1 & E2 & E3 & E4 & E5). exists d, d1, d2. repeat split; try assumption.
    rewrite forallb_forall in Hto. specialize (Hto q Hq). rewrite E5. apply negb_true_iff, Hto. }
  assert (Hcc : forall ev y, In ev u -> real ev = false -> f ev [y] 0%nat = y).
  { intros ev y Hev Hno. apply Hcopy. apply Hall in Hev. exact (copies_named U e ev Hdistinct Hev Hno). }
  pose proof (reads_sound U e Hdistinct Hub Hua c s v u Hstands Hall (each_once _ _ Hmiddle) Hsorted Hdiffer Hreads) as Hsees.
  assert (Hbk : forall d, is_kept U (fst d) = true -> m d = m' d).
  { intros d Hd. apply Hmm. unfold is_compared. rewrite Hd. reflexivity. }
  assert (Hbl : forall d, is_left U (fst d) = true -> m d = m' d).
  { intros d Hd. apply Hmm. unfold is_compared. rewrite Hd. apply orb_true_r. }
  destruct (is_kept U (fst x)) eqn:Hxk.
  { exact (same_values value f R W R' W' real (is_kept U) (is_left U) u Hpr Hpw Hkept Hcopies Hcc Hsees m m' Hbk Hbl x Hxk). }
  apply (same_ends value f R W R' W' real (is_kept U) (is_left U) u Hpr Hpw Hkept Hcopies Hcc Hsees m m' Hbk Hbl).
  unfold is_compared in Hx. rewrite Hxk in Hx. cbn [orb] in Hx.
  destruct (left_sound U e Hdistinct Hub Hua c s v u Hstands Hall (each_once _ _ Hmiddle) Hsorted Hdiffer Hleft Hdifferent) with (c := x)
    as [Hk | Hends]; [|exact Hx | congruence | exact Hends].
  intros w [Hin | Hin]; [rewrite forallb_forall in Hfits; exact (Hfits w Hin) | rewrite forallb_forall in Hfits'; exact (Hfits' w Hin)].
Qed.
