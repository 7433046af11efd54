(** * A checker for whole transformations

    [check_change] computes goals from the original program, the new one, the
    new times and what statements touch, and checks a certificate for each.  If
    it says [true], both programs leave the same memory, and the loops of the
    new one that are marked parallel may take their iterations in any order,
    their steps interleaved in any way ([check_same_memory]).

    What has to be read to know what is claimed: [change] and [stated] (here),
    [compute_the_same_in_any_order] (Parallel.v), [obeys] (Transformation.v) and
    what [Checker.v] names. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Lexicographic Poly Formulas Reduction Memory Transformation Parallel.
From Loopwright Require Import Linear Symbolic Specification Conditions Reaching Walk Coverage Checker.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** What is claimed *)

(** A cell: an array and its subscripts, over the arguments of a statement. *)
Definition place := (string * list expr)%type.

(** What a statement may read and may write.  Where it does nothing but combine
    a value into what it writes, the operator; it is then said to read what the
    value is computed from, and the order of combining is taken not to matter. *)
Record use := Use { may_read : list place; may_write : list place; combined_by : option string }.

(** The original specification, the new times of its statements, and what each
    statement touches. *)
Record change := Change {
  original : specification;
  new_times : list (list expr);
  uses : list use
}.

Definition changed (T : change) : specification :=
  Specification (sizes (original T)) (assumption (original T))
    (retimed (fun _ t => t) (shapes (original T)) (new_times T)).

Definition place_at (e : env) (c : place) : cell := (fst c, map (eval e) (snd c)).

Definition access_of (e : env) (hu : shape * use) : access :=
  let (h, u) := hu in
  Access (shape_name h)
    (fun x => map (place_at (combine (shape_arguments h) x ++ e)) (may_read u))
    (fun x => map (place_at (combine (shape_arguments h) x ++ e)) (may_write u)).

Definition memory_uses (T : change) (e : env) : list access :=
  map (access_of e) (combine (shapes (original T)) (uses T)).

Fixpoint operator_of (l : list (shape * use)) (ev : event) : option string :=
  match l with
  | [] => None
  | (h, u) :: l' => if String.eqb (name_of ev) (shape_name h) then combined_by u else operator_of l' ev
  end.

Definition stated (T : change) (e : env) : accesses :=
  Accesses (reads (accesses_of (memory_uses T e))) (writes (accesses_of (memory_uses T e)))
    (operator_of (combine (shapes (original T)) (uses T))).

(** ** The conditions *)

(** Statements have different names and one time each. *)
Fixpoint distinct (hs : list shape) : bool :=
  match hs with
  | [] => true
  | h :: hs' =>
      negb (existsb (fun g => String.eqb (shape_name h) (shape_name g)) hs') &&
      match shape_hints h with [] => true | _ => false end && distinct hs'
  end.

(** Subscripts of places in the same array. *)
Definition common_places (l m : list place) : list (list expr * list expr) :=
  flat_map (fun c => flat_map (fun d => if String.eqb (fst c) (fst d) then [(snd c, snd d)] else []) m) l.

Definition same_operator (u v : use) : bool :=
  match combined_by u, combined_by v with
  | Some k, Some k' => String.eqb k k'
  | _, _ => false
  end.

Definition common_uses (u v : use) : list (list expr * list expr) :=
  (if same_operator u v then [] else common_places (may_write u) (may_write v)) ++ common_places (may_write u) (may_read v) ++
  common_places (may_read u) (may_write v).

Fixpoint same_place (a b : list lin) : fact :=
  match a, b with
  | [], [] => always
  | x :: a', y :: b' => both [zero (minus x y); same_place a' b']
  | _, _ => never
  end.

Fixpoint meeting_facts (i j : scope) (l : list (list expr * list expr)) (s : state) : list fact * state :=
  match l with
  | [] => ([], s)
  | (a, b) :: l' =>
      let (x, s1) := linear_list i a s in let (y, s2) := linear_list j b s1 in
      let (fs, s3) := meeting_facts i j l' s2 in (same_place x y :: fs, s3)
  end.

(** Two instances that touch a cell, one writing it, keep their order. *)
Definition pair_goals (c : scope) (s : state) (one other : shape * list expr * use) : list goal :=
  let '(h, t, u) := one in let '(h', t', u') := other in
  match common_uses u u' with
  | [] => []
  | pairs =>
      let '(_, _, i, s1) := some_instance h c s in
      let '(_, _, j, s2) := some_instance h' c s1 in
      let (fs, s3) := meeting_facts i j pairs s2 in
      let (a, s4) := linear_list i (shape_time h) s3 in
      let (b, s5) := linear_list j (shape_time h') s4 in
      let (a', s6) := linear_list i t s5 in
      let (b', s7) := linear_list j t' s6 in
      [exclude (both [either fs; earlier a b; not_earlier a' b']) s7]
  end.

Definition parts (T : change) : list (shape * list expr * use) :=
  combine (combine (shapes (original T)) (new_times T)) (uses T).

Definition legality_goals (T : change) : list goal :=
  let (c, s) := beginning (original T) in
  flat_map (fun one => flat_map (pair_goals c s one) (parts T)) (parts T).

(** Two executions touch no cell in common. *)
Definition apart_goals (T : change) (r q : execution) : list goal :=
  let use_of := fun h => List.find (fun hu => String.eqb (shape_name (fst hu)) (shape_name h)) (combine (shapes (original T)) (uses T)) in
  match executed_shape r, executed_shape q with
  | Some h, Some h' =>
      match use_of h, use_of h' with
      | Some (_, u), Some (_, u') =>
          match common_uses u u' with
          | [] => []
          | pairs =>
              let (fs, s) := meeting_facts (executed_scope r) (executed_scope q) pairs (executed_state q) in
              [exclude (either fs) s]
          end
      | _, _ => unfit
      end
  | _, _ => unfit
  end.

Section Independence.
  Variable T : change.
  Variable sizes_scope : scope.

  (** No two iterations of this loop touch a cell in common. *)
  Definition loop_goals (c : scope) (s : state) (n : node) : list goal :=
    match n with
    | For x a t d b =>
        let (v, s1) := fresh s in
        let (w, s2) := fresh (in_loop c x a v t d s1) in
        let s3 := in_loop c x a w t d (assume (less v w) s2) in
        flat_map (fun r => flat_map (apart_goals T r)
          (executions (shapes (original T)) sizes_scope ((x, w) :: c) (executed_state r) b))
          (executions (shapes (original T)) sizes_scope ((x, v) :: c) s3 b)
    | _ => []
    end.

  (** The same of every loop of [n] that is marked. *)
  Fixpoint independence_goals (c : scope) (s : state) (n : node) : list goal :=
    match n with
    | Call _ _ _ => []
    | Block ns => flat_map (independence_goals c s) ns
    | If t a b =>
        let (f, s1) := known c true t s in let (f', s1') := known c false t s in
        independence_goals c (assume f s1) a ++ independence_goals c (assume f' s1') b
    | For x a t d b => let (v, s1) := fresh s in independence_goals ((x, v) :: c) (in_loop c x a v t d s1) b
    | Let x a b => let (m, s1) := linear c a s in independence_goals ((x, m) :: c) s1 b
    | Mark text b => (if String.eqb text parallel then loop_goals c s b else []) ++ independence_goals c s b
    end.
End Independence.

Definition parallel_goals (T : change) (n : node) : list goal :=
  let (c, s) := beginning (original T) in independence_goals T c c s n.

Definition change_goals (T : change) (n n' : node) (how how' : proposal) : list goal :=
  goals (original T) n how ++ goals (changed T) n' how' ++ legality_goals T ++ parallel_goals T n'.

(** The subscripts use no other names. *)
Definition closed_use (names : list string) (hu : shape * use) : bool :=
  let own := shape_arguments (fst hu) ++ names in
  let closed_place := fun c : place => forallb (closed_expr own) (snd c) in
  forallb closed_place (may_read (snd hu)) && forallb closed_place (may_write (snd hu)).

Definition well_formed_change (T : change) (n n' : node) (how : proposal) : bool :=
  well_formed (original T) n && well_formed (changed T) n' && distinct (shapes (original T)) &&
  Nat.eqb (List.length (new_times T)) (List.length (shapes (original T))) &&
  Nat.eqb (List.length (uses T)) (List.length (shapes (original T))) &&
  forallb (closed_use (sizes (original T))) (combine (shapes (original T)) (uses T)) &&
  match ties how with [] => true | _ => false end.

Definition check_change (T : change) (n n' : node) (how how' : proposal) (cs : list certificate) : bool :=
  well_formed_change T n n' how && refutes_all cs (change_goals T n n' how how').

(** ** Soundness *)

Lemma retimed_alike : forall hs ts, Forall2 (alike (fun _ _ => True)) hs (retimed (fun _ t => t) hs ts).
Proof.
  induction hs as [|h hs IH]; intros [|t ts]; cbn [retimed]; [constructor | constructor | |].
  - apply same_alike. intros g _. exists (shape_time g). split; [destruct g; reflexivity | exact I].
  - constructor; [exists t; auto | apply IH].
Qed.

Lemma same_place_true : forall v a b x, denote_all v a x -> denote_all v b x -> true_at v (same_place a b).
Proof.
  intros v a b x Ha. revert b. induction Ha as [|l z a x Hl _ IH]; intros b Hb;
    inversion Hb as [|m ? b' ? Hm Hb']; subst; [exact I|].
  cbn [same_place]. apply both_true. constructor; [exact (equal_true _ _ _ _ _ Hl Hm eq_refl)|].
  constructor; [exact (IH b' Hb') | constructor].
Qed.

Lemma meeting_facts_models : forall l i j s fs s' e e' v,
  meeting_facts i j l s = (fs, s') -> models v s -> agrees e i v -> agrees e' j v ->
  exists w, models (v ++ w) s' /\
    (Exists (fun ab => map (eval e) (fst ab) = map (eval e') (snd ab)) l -> Exists (true_at (v ++ w)) fs).
Proof.
  induction l as [|[a b] l IH]; intros i j s fs s' e e' v H Hm Hi Hj; cbn [meeting_facts] in H.
  - injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm|]. intros He. inversion He.
  - destruct (linear_list i a s) as [x s1] eqn:E1. destruct (linear_list j b s1) as [y s2] eqn:E2.
    destruct (meeting_facts i j l s2) as [gs s3] eqn:E3. injection H as <- <-.
    destruct (linear_list_models _ _ _ _ _ _ _ E1 Hi Hm) as (w1 & Hm1 & Hx).
    destruct (linear_list_models _ _ _ _ _ _ _ E2 (agrees_more _ _ _ w1 Hj) Hm1) as (w2 & Hm2 & Hy).
    destruct (IH _ _ _ _ _ e e' _ E3 Hm2 (agrees_more _ _ _ w2 (agrees_more _ _ _ w1 Hi))
      (agrees_more _ _ _ w2 (agrees_more _ _ _ w1 Hj))) as (w3 & Hm3 & Hrest).
    exists (w1 ++ w2 ++ w3). rewrite !app_assoc. split; [exact Hm3|]. intros He. inversion He as [? ? Heq | ? ? Hmore]; subst.
    + left. cbn [fst snd] in Heq. apply (same_place_true _ _ _ (map (eval e) a)).
      * do 2 apply denote_all_more. exact Hx.
      * rewrite Heq. apply denote_all_more. exact Hy.
    + right. exact (Hrest Hmore).
Qed.

Lemma common_place : forall e e' l m c, In c (map (place_at e) l) -> In c (map (place_at e') m) ->
  Exists (fun ab => map (eval e) (fst ab) = map (eval e') (snd ab)) (common_places l m).
Proof.
  intros e e' l m c H H'. apply in_map_iff in H as (q & <- & Hq). apply in_map_iff in H' as (q' & Heq & Hq').
  unfold place_at in Heq. injection Heq as Hname Hsubscripts. apply Exists_exists. exists (snd q, snd q'). cbn [fst snd].
  split; [|congruence]. unfold common_places. apply in_flat_map. exists q. split; [exact Hq|]. apply in_flat_map.
  exists q'. split; [exact Hq'|]. rewrite Hname, String.eqb_refl. left. reflexivity.
Qed.

Lemma distinct_cells : forall pick e hs us h u x y ev,
  distinct hs = true -> List.length us = List.length hs -> In (h, u) (combine hs us) ->
  ev = Event (shape_name h) x y ->
  cells_of pick (map (access_of e) (combine hs us)) ev = Some (pick (access_of e (h, u)) x).
Proof.
  intros pick e. induction hs as [|g hs IH]; intros [|w us] h u x y ev Hd Hlen Hin ->; try discriminate; [destruct Hin|].
  cbn [combine map cells_of access_of name_of statement_name arguments_of]. cbn [distinct] in Hd.
  apply andb_prop in Hd as [Hd Hrest]. apply andb_prop in Hd as [Hd _]. apply negb_true_iff in Hd.
  destruct Hin as [Heq | Hin].
  - injection Heq as -> ->. rewrite String.eqb_refl. reflexivity.
  - destruct (String.eqb_spec (shape_name h) (shape_name g)) as [Hname | _].
    + exfalso. assert (Htrue : existsb (fun k => String.eqb (shape_name g) (shape_name k)) hs = true).
      { apply existsb_exists. exists h. split; [apply (in_combine_l _ _ _ _ Hin)|]. rewrite Hname. apply String.eqb_refl. }
      congruence.
    + apply (IH us h u x y); auto.
Qed.

Lemma distinct_hints : forall hs h, distinct hs = true -> In h hs -> shape_hints h = [].
Proof.
  induction hs as [|g hs IH]; intros h H; [intros []|]. cbn [distinct] in H. apply andb_prop in H as [H Hrest].
  apply andb_prop in H as [_ H]. intros [<- | Hin]; [destruct (shape_hints g); [reflexivity | discriminate] | exact (IH h Hrest Hin)].
Qed.

Lemma in_parts : forall hs (ts : list (list expr)) (us : list use) (h : shape), List.length ts = List.length hs -> List.length us = List.length hs -> In h hs ->
  exists t u, In (h, t, u) (combine (combine hs ts) us) /\ In (h, u) (combine hs us).
Proof.
  induction hs as [|g hs IH]; intros [|t ts] [|u us] h Ht Hu; try discriminate; [intros []|].
  intros [<- | Hin]; [exists t, u; split; left; reflexivity|].
  destruct (IH ts us h ltac:(cbn in *; lia) ltac:(cbn in *; lia) Hin) as (t' & u' & H1 & H2).
  exists t', u'. split; right; assumption.
Qed.

(** By its name a statement is found with its own new time. *)
Lemma find_retimed : forall hs ts (us : list use) h t u f n m, distinct hs = true -> List.length ts = List.length hs ->
  In (h, t, u) (combine (combine hs ts) us) -> find_shape hs f n m = Some h ->
  find_shape (retimed (fun _ t => t) hs ts) f n m = Some (with_time h t).
Proof.
  induction hs as [|g hs IH]; intros [|w ts] [|z us] h t u f n m Hd Hlen Hin Hf; try discriminate; try contradiction.
  cbn [combine] in Hin. cbn [retimed find_shape with_time shape_name shape_arguments shape_hints] in *.
  cbn [distinct] in Hd. apply andb_prop in Hd as [Hd Hrest]. apply andb_prop in Hd as [Hd _]. apply negb_true_iff in Hd.
  destruct (String.eqb f (shape_name g) && Nat.eqb n (List.length (shape_arguments g)) &&
            Nat.eqb m (List.length (shape_hints g))) eqn:Hg.
  - injection Hf as <-. destruct Hin as [Heq | Hin]; [injection Heq as -> ->; reflexivity|].
    exfalso. apply in_combine_l, in_combine_l in Hin.
    assert (Htrue : existsb (fun k => String.eqb (shape_name g) (shape_name k)) hs = true).
    { apply existsb_exists. exists g. split; [exact Hin | apply String.eqb_refl]. }
    congruence.
  - destruct Hin as [Heq | Hin].
    + injection Heq as -> -> ->. exfalso. apply find_shape_known in Hf as (Hin & _).
      assert (Htrue : existsb (fun k => String.eqb (shape_name h) (shape_name k)) hs = true).
      { apply existsb_exists. exists h. split; [exact Hin | apply String.eqb_refl]. }
      congruence.
    + exact (IH ts us h t u f n m Hrest ltac:(cbn in Hlen; lia) Hin Hf).
Qed.

Lemma instance_no_hints : forall e h x y, shape_hints h = [] ->
  instance e h x y = combine (shape_arguments h) x ++ e.
Proof. intros e h x y H. unfold instance. rewrite H. reflexivity. Qed.

Lemma distinct_operator : forall hs us h u ev,
  distinct hs = true -> In (h, u) (combine hs us) -> name_of ev = shape_name h ->
  operator_of (combine hs us) ev = combined_by u.
Proof.
  induction hs as [|g hs IH]; intros [|w us] h u ev Hd Hin Hev; try (destruct Hin; fail).
  cbn [combine operator_of]. cbn [distinct] in Hd. apply andb_prop in Hd as [Hd Hrest]. apply andb_prop in Hd as [Hd _].
  apply negb_true_iff in Hd. rewrite Hev. destruct Hin as [Heq | Hin].
  - injection Heq as -> ->. rewrite String.eqb_refl. reflexivity.
  - destruct (String.eqb_spec (shape_name h) (shape_name g)) as [Hname | _]; [|exact (IH us h u ev Hrest Hin Hev)].
    exfalso. assert (Htrue : existsb (fun k => String.eqb (shape_name g) (shape_name k)) hs = true).
    { apply existsb_exists. exists h. split; [apply (in_combine_l _ _ _ _ Hin)|]. rewrite Hname. apply String.eqb_refl. }
    congruence.
Qed.

(** Instances that conflict have a cell in common. *)
Lemma conflict_common : forall T e h u h' u' x y x' y',
  distinct (shapes (original T)) = true -> List.length (uses T) = List.length (shapes (original T)) ->
  In (h, u) (combine (shapes (original T)) (uses T)) -> In (h', u') (combine (shapes (original T)) (uses T)) ->
  conflicting (stated T e) (Event (shape_name h) x y) (Event (shape_name h') x' y') ->
  Exists (fun ab => map (eval (instance e h x y)) (fst ab) = map (eval (instance e h' x' y')) (snd ab)) (common_uses u u').
Proof.
  intros T e h u h' u' x y x' y' Hd Hlen Hin Hin' [c Hc]. unfold stated, memory_uses in Hc.
  cbn [reads writes combines accesses_of] in Hc.
  rewrite !(distinct_cells _ e _ (uses T) h u x y _ Hd Hlen Hin eq_refl) in Hc.
  rewrite !(distinct_cells _ e _ (uses T) h' u' x' y' _ Hd Hlen Hin' eq_refl) in Hc.
  cbn [access_of reads_of writes_of touches] in Hc.
  rewrite <- (instance_no_hints e h x y (distinct_hints _ _ Hd (in_combine_l _ _ _ _ Hin))) in Hc.
  rewrite <- (instance_no_hints e h' x' y' (distinct_hints _ _ Hd (in_combine_l _ _ _ _ Hin'))) in Hc.
  unfold common_uses. rewrite !Exists_app. destruct Hc as [(Ha & Hb & Hno) | [[Ha Hb] | [Ha Hb]]].
  - left. destruct (same_operator u u') eqn:Hop; [|exact (common_place _ _ _ _ c Ha Hb)].
    exfalso. apply Hno. unfold both_combine, same_operator in *.
    rewrite (distinct_operator _ _ h u (Event (shape_name h) x y) Hd Hin eq_refl).
    rewrite (distinct_operator _ _ h' u' (Event (shape_name h') x' y') Hd Hin' eq_refl).
    destruct (combined_by u) as [k|]; [|discriminate]. destruct (combined_by u') as [k'|]; [|discriminate].
    apply String.eqb_eq in Hop as <-. exists k. auto.
  - right. left. exact (common_place _ _ _ _ c Ha Hb).
  - right. right. exact (common_place _ _ _ _ c Ha Hb).
Qed.

Lemma legality_sound : forall T p,
  distinct (shapes (original T)) = true ->
  List.length (new_times T) = List.length (shapes (original T)) ->
  List.length (uses T) = List.length (shapes (original T)) ->
  Forall refuted (legality_goals T) -> context (meant (original T)) p ->
  let e := environment (meant (original T)) p in
  forall a b, scheduled (statements (meant (original T)) p) a -> scheduled (statements (meant (original T)) p) b ->
  conflicting (stated T e) a b ->
  lex_lt (time_of (statements (meant (original T)) p) a) (time_of (statements (meant (original T)) p) b) ->
  lex_lt (time_of (statements (meant (changed T)) p) a) (time_of (statements (meant (changed T)) p) b).
Proof.
  intros T p Hdistinct Hlt Hlu H Hp e [f x y] [f' x' y'] Ha Hb Hc Hlex.
  set (hs := shapes (original T)) in *. change (statements (meant (original T)) p) with (poly_of hs e) in *.
  change (statements (meant (changed T)) p) with (poly_of (retimed (fun _ t => t) hs (new_times T)) e).
  pose proof (retimed_alike hs (new_times T)) as Hlike.
  rewrite !time_instance in Hlex. rewrite !time_instance.
  apply scheduled_instance in Ha. apply scheduled_instance in Hb. unfold has_instance, at_time in *.
  cbn [name_of arguments_of hint_of] in *.
  destruct (find_shape hs f (List.length x) (List.length y)) as [h|] eqn:Eh; [|contradiction].
  destruct (find_shape hs f' (List.length x') (List.length y')) as [h'|] eqn:Eh'; [|contradiction].
  destruct (find_shape_known _ _ _ _ _ Eh) as (Hin & <- & Hx & Hy).
  destruct (find_shape_known _ _ _ _ _ Eh') as (Hin' & <- & Hx' & Hy').
  destruct (in_parts hs _ _ h Hlt Hlu Hin) as (t & u & Hpart & Hpair).
  destruct (in_parts hs _ _ h' Hlt Hlu Hin') as (t' & u' & Hpart' & Hpair').
  rewrite (find_retimed _ _ _ _ _ _ _ _ _ Hdistinct Hlt Hpart Eh).
  rewrite (find_retimed _ _ _ _ _ _ _ _ _ Hdistinct Hlt Hpart' Eh').
  cbn [with_time shape_time shape_arguments shape_hints].
  change (instance e (with_time h t) x y) with (instance e h x y).
  change (instance e (with_time h' t') x' y') with (instance e h' x' y').
  pose proof (distinct_hints _ _ Hdistinct Hin) as Hhint. pose proof (distinct_hints _ _ Hdistinct Hin') as Hhint'.
  set (i := instance e h x y) in *. set (j := instance e h' x' y') in *.
  (* the cells they have in common *)
  assert (Hmeet : Exists (fun ab => map (eval i) (fst ab) = map (eval j) (snd ab)) (common_uses u u')).
  { exact (conflict_common T e h u h' u' x y x' y' Hdistinct Hlu Hpair Hpair' Hc). }
  (* their goal *)
  assert (Hgoals : let (c, s) := beginning (original T) in Forall refuted (pair_goals c s (h, t, u) (h', t', u'))).
  { unfold legality_goals in H. destruct (beginning (original T)) as [c s].
    apply Forall_forall. intros g Hg. rewrite Forall_forall in H. apply H.
    apply in_flat_map. exists (h, t, u). split; [exact Hpart|].
    apply in_flat_map. exists (h', t', u'). split; [exact Hpart' | exact Hg]. }
  destruct (beginning (original T)) as [c s] eqn:Ebegin.
  destruct (beginning_models _ _ _ _ Ebegin Hp) as (v & Hm & Hcs). fold e in Hcs.
  unfold pair_goals in Hgoals.
  destruct (common_uses u u') as [|first others] eqn:Epairs; [inversion Hmeet|]. rewrite <- Epairs in Hgoals, Hmeet.
  destruct (some_instance h c s) as [[[xs ys] ci] s1] eqn:E1.
  destruct (some_instance h' c s1) as [[[xs' ys'] cj] s2] eqn:E2.
  destruct (meeting_facts ci cj (common_uses u u') s2) as [fs s3] eqn:E3.
  destruct (linear_list ci (shape_time h) s3) as [l1 s4] eqn:E4.
  destruct (linear_list cj (shape_time h') s4) as [l2 s5] eqn:E5.
  destruct (linear_list ci t s5) as [l3 s6] eqn:E6. destruct (linear_list cj t' s6) as [l4 s7] eqn:E7.
  inversion Hgoals as [|? ? Hgoal _]; subst. clear Hgoals.
  destruct (some_instance_models _ _ _ _ _ _ _ e v x y E1 Hm Hcs ltac:(lia) ltac:(lia) Ha) as (w1 & Hm1 & _ & _ & Hi).
  destruct (some_instance_models _ _ _ _ _ _ _ e _ x' y' E2 Hm1 (agrees_more _ _ _ w1 Hcs) ltac:(lia) ltac:(lia) Hb)
    as (w2 & Hm2 & _ & _ & Hj). fold i in Hi. fold j in Hj.
  apply (agrees_more _ _ _ w2) in Hi. set (v2 := (v ++ w1) ++ w2) in *.
  destruct (meeting_facts_models _ _ _ _ _ _ i j _ E3 Hm2 Hi Hj) as (w3 & Hm3 & Hmet). specialize (Hmet Hmeet).
  apply (agrees_more _ _ _ w3) in Hi. apply (agrees_more _ _ _ w3) in Hj. set (v3 := v2 ++ w3) in *.
  destruct (linear_list_models _ _ _ _ _ _ _ E4 Hi Hm3) as (w4 & Hm4 & Hl1).
  apply (agrees_more _ _ _ w4) in Hi. apply (agrees_more _ _ _ w4) in Hj. set (v4 := v3 ++ w4) in *.
  destruct (linear_list_models _ _ _ _ _ _ _ E5 Hj Hm4) as (w5 & Hm5 & Hl2).
  apply (agrees_more _ _ _ w5) in Hi. apply (agrees_more _ _ _ w5) in Hj. set (v5 := v4 ++ w5) in *.
  destruct (linear_list_models _ _ _ _ _ _ _ E6 Hi Hm5) as (w6 & Hm6 & Hl3).
  apply (agrees_more _ _ _ w6) in Hi. apply (agrees_more _ _ _ w6) in Hj. set (v6 := v5 ++ w6) in *.
  destruct (linear_list_models _ _ _ _ _ _ _ E7 Hj Hm6) as (w7 & Hm7 & Hl4).
  destruct (lex_lt_dec (map (eval i) t) (map (eval j) t')) as [Hgood | Hbad]; [exact Hgood|]. exfalso.
  apply (refuted_state _ _ _ Hgoal Hm7). apply both_true. constructor; [|constructor; [|constructor; [|constructor]]].
  - do 4 apply true_at_more. apply either_true, Hmet.
  - refine (earlier_true _ _ _ _ _ _ _ Hlex); [do 3 apply denote_all_more; exact Hl1 | do 2 apply denote_all_more; exact Hl2].
  - refine (not_earlier_true _ _ _ _ _ _ Hl4 Hbad). apply denote_all_more. exact Hl3.
Qed.

Lemma untied_nothing : forall hs, untied hs [] = hs.
Proof. intros [|h hs]; reflexivity. Qed.

(** *** Independence *)

Lemma distinct_same : forall hs g h, distinct hs = true -> In g hs -> In h hs -> shape_name g = shape_name h -> g = h.
Proof.
  induction hs as [|k hs IH]; intros g h H; [intros []|]. cbn [distinct] in H. apply andb_prop in H as [H Hrest].
  apply andb_prop in H as [H _]. apply negb_true_iff in H.
  assert (Hnone : forall f, In f hs -> shape_name k = shape_name f -> False).
  { intros f Hf Heq. assert (Htrue : existsb (fun f => String.eqb (shape_name k) (shape_name f)) hs = true).
    { apply existsb_exists. exists f. split; [exact Hf|]. rewrite Heq. apply String.eqb_refl. }
    congruence. }
  intros [<- | Hg] [<- | Hh] Heq; [reflexivity | destruct (Hnone _ Hh Heq) | destruct (Hnone _ Hg (eq_sym Heq)) | exact (IH g h Hrest Hg Hh Heq)].
Qed.

Section IndependenceSound.
  Variable T : change.
  Variable sizes_env : env.
  Variable sizes_scope : scope.
  Hypothesis names_differ : distinct (shapes (original T)) = true.
  Hypothesis all_used : List.length (uses T) = List.length (shapes (original T)).

  Lemma apart_goals_sound : forall v r ev w q ev', Forall refuted (apart_goals T r q) ->
    shows (shapes (original T)) sizes_env v r ev -> shows (shapes (original T)) sizes_env (v ++ w) q ev' ->
    ~ conflicting (stated T sizes_env) ev ev'.
  Proof.
    intros v r [f x y] w q [f' x' y'] H (_ & _ & Hr & Hir) (Hm & _ & Hq & Hiq) Hc. unfold apart_goals in H.
    cbn [name_of arguments_of hint_of] in *.
    destruct (executed_shape r) as [h|]; [|exact (unfit_false H)].
    destruct (executed_shape q) as [h'|]; [|exact (unfit_false H)].
    symmetry in Hr, Hq. apply find_shape_known in Hr as (Hin & <- & _). apply find_shape_known in Hq as (Hin' & <- & _).
    destruct (List.find (fun hu => String.eqb (shape_name (fst hu)) (shape_name h)) (combine (shapes (original T)) (uses T)))
      as [[g u]|] eqn:Eg; [|exact (unfit_false H)].
    destruct (List.find (fun hu => String.eqb (shape_name (fst hu)) (shape_name h')) (combine (shapes (original T)) (uses T)))
      as [[g' u']|] eqn:Eg'; [|exact (unfit_false H)].
    apply find_some in Eg as [Hu Hn]. apply find_some in Eg' as [Hu' Hn']. cbn [fst] in Hn, Hn'.
    apply String.eqb_eq in Hn. apply String.eqb_eq in Hn'.
    apply (distinct_same _ _ _ names_differ (in_combine_l _ _ _ _ Hu) Hin) in Hn as ->.
    apply (distinct_same _ _ _ names_differ (in_combine_l _ _ _ _ Hu') Hin') in Hn' as ->.
    pose proof (conflict_common T _ _ _ _ _ _ _ _ _ names_differ all_used Hu Hu' Hc) as Hmeet.
    destruct (common_uses u u') as [|first others] eqn:Epairs; [inversion Hmeet|]. rewrite <- Epairs in H, Hmeet.
    destruct (meeting_facts (executed_scope r) (executed_scope q) (common_uses u u') (executed_state q)) as [fs s] eqn:Ef.
    inversion H as [|? ? Hgoal _]; subst.
    destruct (meeting_facts_models _ _ _ _ _ _ _ _ _ Ef Hm (agrees_more _ _ _ w (Hir h eq_refl)) (Hiq h' eq_refl))
      as (w' & Hm' & Hmet).
    exact (refuted_state _ _ _ Hgoal Hm' (either_true _ _ (Hmet Hmeet))).
  Qed.

  Lemma loop_goals_sound : forall n c s e v, Forall refuted (loop_goals T sizes_scope c s n) ->
    agrees e c v -> agrees sizes_env sizes_scope v -> models v s ->
    iterations_apart (conflicting (stated T sizes_env)) e n.
  Proof.
    intros [| | |x a t d b| |] c s e v H Hc Hp Hm; try exact I. cbn [loop_goals] in H.
    intros y z Hy Hty Hz Htz Hlt ev ev' Hev Hev'.
    destruct (fresh s) as [lv s1] eqn:E1. destruct (fresh (in_loop c x a lv t d s1)) as [lw s2] eqn:E2.
    destruct (fresh_models _ _ y _ _ E1 Hm) as [Hm1 Hv].
    destruct (in_loop_models _ _ x _ _ _ _ _ _ _ Hm1 (agrees_more _ _ _ [y] Hc) Hv Hy Hty) as [w1 Hm2].
    destruct (fresh_models _ _ z _ _ E2 Hm2) as [Hm3 Hw]. set (v3 := ((v ++ [y]) ++ w1) ++ [z]) in *.
    assert (Hv3 : denotes v3 lv y) by (do 2 apply denotes_more; exact Hv).
    assert (Hc3 : agrees e c v3) by (do 3 apply agrees_more; exact Hc).
    pose proof (assume_models _ _ _ Hm3 (less_true _ _ _ _ _ Hv3 Hw Hlt)) as Hm4.
    destruct (in_loop_models _ _ x _ _ _ _ _ _ _ Hm4 Hc3 Hw Hz Htz) as [w4 Hm5]. set (v5 := v3 ++ w4) in *.
    assert (Hc5 : agrees ((x, y) :: e) ((x, lv) :: c) v5).
    { apply agrees_cons; [apply agrees_more, Hc3 | apply denotes_more, Hv3]. }
    assert (Hc5' : agrees ((x, z) :: e) ((x, lw) :: c) v5).
    { apply agrees_cons; [apply agrees_more, Hc3 | apply denotes_more, Hw]. }
    assert (Hp5 : agrees sizes_env sizes_scope v5) by (do 4 apply agrees_more; exact Hp).
    destruct (executions_complete (shapes (original T)) sizes_env sizes_scope _ _ _ _ _ _ Hev Hc5 Hp5 Hm5) as (r & w6 & Hr & Hshow).
    destruct (executions_complete (shapes (original T)) sizes_env sizes_scope _ _ _ _ _ _ Hev' (agrees_more _ _ _ w6 Hc5')
      (agrees_more _ _ _ w6 Hp5) (proj1 Hshow)) as (q & w7 & Hq & Hshow').
    refine (apart_goals_sound _ _ _ _ _ _ _ Hshow Hshow'). apply Forall_forall. intros g Hg.
    rewrite Forall_forall in H. apply H. apply in_flat_map. exists r. split; [exact Hr|].
    apply in_flat_map. exists q. split; [exact Hq | exact Hg].
  Qed.

  Theorem independence_sound : forall n c s e v, Forall refuted (independence_goals T sizes_scope c s n) ->
    agrees e c v -> agrees sizes_env sizes_scope v -> models v s ->
    independent (conflicting (stated T sizes_env)) e n.
  Proof.
    induction n as [f args hint|ns IH|t a b IHa IHb|x a t d b IHb|x a b IHb|text b IHb] using node_induction;
      intros c s e v H Hc Hp Hm; cbn [independence_goals independent] in *.
    - exact I.
    - induction IH as [|n ns Hn _ IHns]; [exact I|]. cbn [flat_map map] in *. apply Forall_app in H as [H1 H2].
      apply all_cons. split; [exact (Hn _ _ _ _ H1 Hc Hp Hm) | exact (IHns H2)].
    - destruct (known c true t s) as [f s1] eqn:E1. destruct (known c false t s) as [f' s1'] eqn:E1'.
      apply Forall_app in H as [H1 H2]. split; intros Ht.
      + destruct (known_models _ _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hf). apply decide_holds in Ht.
        exact (IHa _ _ _ _ H1 (agrees_more _ _ _ w Hc) (agrees_more _ _ _ w Hp) (assume_models _ _ _ Hm1 (Hf Ht))).
      + destruct (known_models _ _ _ _ _ _ _ _ E1' Hc Hm) as (w & Hm1 & Hf). apply decide_fails in Ht.
        exact (IHb _ _ _ _ H2 (agrees_more _ _ _ w Hc) (agrees_more _ _ _ w Hp) (assume_models _ _ _ Hm1 (Hf Ht))).
    - destruct (fresh s) as [lv s1] eqn:E1. intros y Hy Ht. destruct (fresh_models _ _ y _ _ E1 Hm) as [Hm1 Hv].
      pose proof (agrees_more _ _ _ [y] Hc) as Hc1.
      destruct (in_loop_models _ _ x _ _ _ _ _ _ _ Hm1 Hc1 Hv Hy Ht) as [w Hm2].
      apply (IHb _ _ _ _ H (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w Hc1) (denotes_more _ w _ _ Hv))
        (agrees_more _ _ _ w (agrees_more _ _ _ [y] Hp)) Hm2).
    - destruct (linear c a s) as [m s1] eqn:E1. destruct (linear_models _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hd).
      exact (IHb _ _ _ _ H (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w Hc) Hd) (agrees_more _ _ _ w Hp) Hm1).
    - apply Forall_app in H as [H1 H2]. split; [|exact (IHb _ _ _ _ H2 Hc Hp Hm)].
      destruct (String.eqb text parallel); [exact (loop_goals_sound _ _ _ _ _ H1 Hc Hp Hm) | exact I].
  Qed.
End IndependenceSound.

Lemma goals_same_memory : forall T n n' how how', well_formed_change T n n' how = true ->
  Forall refuted (change_goals T n n' how how') -> forall p, context (meant (original T)) p ->
  let e := environment (meant (original T)) p in compute_the_same_in_any_order (stated T e) e n n'.
Proof.
  intros T n n' how how' Hwell H p Hp e. unfold change_goals in H. apply Forall_app in H as [H1 H]. apply Forall_app in H as [H2 H].
  apply Forall_app in H as [H3 H4].
  unfold well_formed_change in Hwell. apply andb_prop in Hwell as [Hwell Hties]. apply andb_prop in Hwell as [Hwell _].
  apply andb_prop in Hwell as [Hwell Hlu]. apply andb_prop in Hwell as [Hwell Hlt].
  apply andb_prop in Hwell as [Hwell Hdistinct]. apply andb_prop in Hwell as [Hw Hw'].
  apply Nat.eqb_eq in Hlu. apply Nat.eqb_eq in Hlt. destruct how as [g k [|tie rest]]; [|discriminate].
  apply same_in_any_order.
  - apply (transformation_correct (fun p => stated T (environment (meant (original T)) p))
      (meant (original T)) (meant (changed T))); auto.
    + exact (goals_implement _ _ _ Hw H1).
    + exact (goals_implement _ _ _ Hw' H2).
    + intros q Hq. constructor.
      * intros ev. apply (scheduled_alike (fun _ _ => True)). apply retimed_alike.
      * intros a b Ha Hb _ Htime.
        destruct (walked _ _ _ q H1 Hq) as (Hreg & Hcov & _ & Hord). cbn [ties] in Hord. rewrite untied_nothing in Hord.
        exact (times_differ _ _ _ Hreg Hcov Hord a b Ha Hb Htime).
      * intros a b Ha Hb Hc Hlex. exact (legality_sound T q Hdistinct Hlt Hlu H3 Hq a b Ha Hb Hc Hlex).
  - exact (proj1 (walked _ _ _ p H2 Hp)).
  - unfold parallel_goals in H4. destruct (beginning (original T)) as [c s] eqn:E.
    destruct (beginning_models _ _ _ _ E Hp) as (v & Hm & Hc).
    exact (independence_sound T e c Hdistinct Hlu n' c s e v H4 Hc Hc Hm).
Qed.

(** *** The theorem

    Two programs that pass the check leave the same memory: for all values of
    the parameters, all memories and all instructions that do what is stated,
    both end, and whatever order the marked loops of the second take their
    iterations in, the memories they leave are equal. *)
Theorem check_same_memory : forall T n n' how how' cs, check_change T n n' how how' cs = true ->
  forall p, context (meant (original T)) p ->
  let e := environment (meant (original T)) p in compute_the_same_in_any_order (stated T e) e n n'.
Proof.
  intros T n n' how how' cs H. unfold check_change in H. apply andb_prop in H as [Hwell H].
  exact (goals_same_memory T n n' how how' Hwell (refutes_all_sound _ _ H)).
Qed.
