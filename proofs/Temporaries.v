(** * A checker for transformations with private storage

    [check_private] is [check_change] for programs whose parallel loops give
    each iteration its own copies of temporaries ([Private.v]), loops inside of
    each other included.  It is told, for each layer of copies and each
    statement, the tag of an instance and where each value that it reads of a
    temporary was written; both are checked.  If it says [true], both programs
    leave the same memory except in temporaries ([check_same_privately]). *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Lexicographic Poly Formulas Reduction Memory Transformation Parallel Private.
From Loopwright Require Import Linear Symbolic Specification Conditions Reaching Walk Coverage Checker Changes.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** What is claimed *)

(** The instance of [origin_statement] with these arguments writes what is read,
    by its write of this number. *)
Record origin := Origin { origin_statement : string; origin_arguments : list expr; origin_write : nat }.

(** The arrays that are temporaries; of each statement the tag, and an origin
    for each cell of a temporary that it reads. *)
Record storage := Storage {
  temporaries : list string;
  tags : list (list expr);
  origins : list (list origin)
}.

Definition is_temporary (S : storage) (x : string) : bool := existsb (String.eqb x) (temporaries S).

(** A statement with its tag and what it touches. *)
Definition part := (shape * list expr * use)%type.

Definition find_part (l : list part) (f : string) : option part :=
  List.find (fun p => String.eqb f (shape_name (fst (fst p)))) l.

Definition tag_in (l : list part) (e : env) (ev : event) : list Z :=
  match find_part l (name_of ev) with
  | Some (h, t, _) => map (eval (combine (shape_arguments h) (arguments_of ev) ++ e)) t
  | None => []
  end.

Definition all_parts (T : change) (S : storage) : list part := combine (combine (shapes (original T)) (tags S)) (uses T).

Definition tag_of (T : change) (S : storage) : env -> event -> list Z := tag_in (all_parts T S).

(** ** The conditions *)

(** The cells of copies. *)
Definition own_place (S : storage) (t : list expr) (c : place) : place :=
  if is_temporary S (fst c) then (fst c, t ++ snd c) else c.

Definition own_use (S : storage) (tu : list expr * use) : use :=
  Use (map (own_place S (fst tu)) (may_read (snd tu))) (map (own_place S (fst tu)) (may_write (snd tu))) (combined_by (snd tu)).

Definition with_copies (T : change) (S : storage) : change :=
  Change (original T) (new_times T) (map (own_use S) (combine (tags S) (uses T))).

Fixpoint linear_all (l : list (scope * list expr)) (s : state) : list (list lin) * state :=
  match l with
  | [] => ([], s)
  | (c, a) :: l' => let (m, s1) := linear_list c a s in let (ms, s2) := linear_all l' s1 in (m :: ms, s2)
  end.

Section Goals.
  Variable parts : list part.
  Variable sizes_scope : scope.

  (** What one statement reads in one cell was written as is said, and nothing with another tag wrote it since. *)
  Definition origin_goals (s : state) (one : part) (c : place) (o : origin) : list goal :=
    let '(h, t, u) := one in
    match find_part parts (origin_statement o) with
    | None => unfit
    | Some (g, tg, ug) =>
        match nth_error (may_write ug) (origin_write o) with
        | None => unfit
        | Some (y, w) =>
            if String.eqb (fst c) y && Nat.eqb (List.length (origin_arguments o)) (List.length (shape_arguments g)) then
              let '(_, _, i, s1) := some_instance h sizes_scope s in
              let (xs, s2) := linear_list i (origin_arguments o) s1 in
              let j := combine (shape_arguments g) xs ++ sizes_scope in
              let (outside, s3) := known j false (shape_domain g) s2 in
              match linear_all [(i, snd c); (j, w); (i, shape_time h); (j, shape_time g); (i, t); (j, tg)] s3 with
              | ([read; written; now; before; here; there], s4) =>
                  exclude (either [outside; apart read written; not_earlier before now; apart there here]) s4 ::
                  flat_map (fun p => flat_map (fun c' =>
                    if String.eqb (fst c') (fst c) then
                      let '(_, _, k, s5) := some_instance (fst (fst p)) sizes_scope s4 in
                      match linear_all [(k, snd c'); (k, shape_time (fst (fst p))); (k, snd (fst p))] s5 with
                      | ([touched; between; other], s6) =>
                          [exclude (both [same_place touched read; earlier before between; earlier between now; apart other here]) s6]
                      | _ => unfit
                      end
                    else []) (may_write (snd p))) parts
              | _ => unfit
              end
            else unfit
        end
    end.

  Fixpoint origins_goals (s : state) (one : part) (cs : list place) (os : list origin) : list goal :=
    match cs, os with
    | [], [] => []
    | c :: cs', o :: os' => origin_goals s one c o ++ origins_goals s one cs' os'
    | _, _ => unfit
    end.

  Fixpoint not_begins (key t : list lin) : fact :=
    match key, t with
    | [], _ => either (map (differ (number 0)) t)
    | a :: key', b :: t' => either [differ a b; not_begins key' t']
    | _ :: _, [] => always
    end.

  (** The tags are what [tagged] says. *)
  Fixpoint tag_goals (left : nat) (marked : bool) (way : list lin) (c : scope) (s : state) (n : node) : list goal :=
    let inside := Nat.eqb left 0 in
    match n with
    | Call f args hint =>
        match find_part parts f with
        | None => unfit
        | Some (h, t, _) =>
            let (xs, s1) := linear_list c args s in
            let (m, s2) := linear_list (combine (shape_arguments h) xs ++ sizes_scope) t s1 in
            [exclude (not_begins (if inside then number 1 :: way else []) m) s2]
        end
    | Block ns =>
        (fix each (k : Z) (ns : list node) : list goal :=
           match ns with
           | [] => []
           | n' :: ns' => tag_goals left false (if inside then way else way ++ [number k]) c s n' ++ each (k + 1) ns'
           end) 0 ns
    | If t a b =>
        let (f, s1) := known c true t s in let (f', s1') := known c false t s in
        tag_goals left false way c (assume f s1) a ++ tag_goals left false way c (assume f' s1') b
    | For x a t d b =>
        let (v, s1) := fresh s in
        tag_goals (if marked then pred left else left) false (if inside then way else way ++ [v]) ((x, v) :: c) (in_loop c x a v t d s1) b
    | Let x a b => let (m, s1) := linear c a s in tag_goals left false way ((x, m) :: c) s1 b
    | Mark text b => tag_goals left (String.eqb text parallel) way c s b
    end.
End Goals.

Definition temporary_reads (S : storage) (u : use) : list place := filter (fun c => is_temporary S (fst c)) (may_read u).

Fixpoint contained_goals (S : storage) (c : scope) (s : state) (parts todo : list part) (os : list (list origin)) : list goal :=
  match todo, os with
  | [], [] => []
  | p :: todo', o :: os' =>
      origins_goals parts c s p (temporary_reads S (snd p)) o ++ contained_goals S c s parts todo' os'
  | _, _ => unfit
  end.

(** [k]: in which of the marked loops inside of each other the iterations have these temporaries. *)
Definition storage_goals (T : change) (k : nat) (S : storage) (n : node) : list goal :=
  let (c, s) := beginning (original T) in
  contained_goals S c s (all_parts T S) (all_parts T S) (origins S) ++ tag_goals (all_parts T S) c k false [] c s n.

(** Several layers of copies, each of what the ones before it made. *)
Fixpoint with_all_copies (T : change) (Ss : list (nat * storage)) : change :=
  match Ss with
  | [] => T
  | one :: Ss' => with_all_copies (with_copies T (snd one)) Ss'
  end.

Fixpoint all_storage_goals (T : change) (Ss : list (nat * storage)) (n : node) : list goal :=
  match Ss with
  | [] => []
  | (k, one) :: Ss' => storage_goals T k one n ++ all_storage_goals (with_copies T one) Ss' n
  end.

Fixpoint layers_of (T : change) (Ss : list (nat * storage)) (e : env) : list layer :=
  match Ss with
  | [] => []
  | (k, one) :: Ss' => Layer k (is_temporary one) (tag_of T one e) :: layers_of (with_copies T one) Ss' e
  end.

Definition same_lengths (l : list (list expr)) : bool :=
  match l with
  | [] => true
  | t :: l' => forallb (fun u => Nat.eqb (List.length u) (List.length t)) l'
  end.

Definition private_goals (T : change) (Ss : list (nat * storage)) (n n' : node) (how how' : proposal) : list goal :=
  change_goals (with_all_copies T Ss) n n' how how' ++ all_storage_goals T Ss n'.

Definition fitting (T : change) (S : storage) : bool :=
  same_lengths (tags S) && Nat.eqb (List.length (tags S)) (List.length (shapes (original T))).

Definition check_private (T : change) (Ss : list (nat * storage)) (n n' : node) (how how' : proposal) (cs : list certificate) : bool :=
  well_formed_change (with_all_copies T Ss) n n' how && forallb (fun kS => fitting T (snd kS)) Ss &&
  Nat.eqb (List.length (uses T)) (List.length (shapes (original T))) &&
  refutes_all cs (private_goals T Ss n n' how how').

(** ** Soundness *)

Lemma linear_all_models : forall (l : list (scope * list expr * env)) s ls s' v,
  linear_all (map fst l) s = (ls, s') -> models v s -> Forall (fun q => agrees (snd q) (fst (fst q)) v) l ->
  exists w, models (v ++ w) s' /\ Forall2 (fun q m => denote_all (v ++ w) m (map (eval (snd q)) (snd (fst q)))) l ls.
Proof.
  induction l as [|[[c a] e] l IH]; intros s ls s' v H Hm Hall; cbn [map fst linear_all] in H.
  - injection H as <- <-. exists []. rewrite app_nil_r. split; [exact Hm | constructor].
  - destruct (linear_list c a s) as [m s1] eqn:E1. destruct (linear_all (map fst l) s1) as [ms s2] eqn:E2.
    injection H as <- <-. inversion Hall as [|? ? Hc Hrest]; subst. cbn [fst snd] in Hc.
    destruct (linear_list_models _ _ _ _ _ _ _ E1 Hc Hm) as (w1 & Hm1 & Hd).
    destruct (IH _ _ _ _ E2 Hm1) as (w2 & Hm2 & Hds).
    { revert Hrest. apply Forall_impl. intros q. apply agrees_more. }
    exists (w1 ++ w2). rewrite app_assoc. split; [exact Hm2|]. constructor; [apply denote_all_more, Hd | exact Hds].
Qed.

Lemma find_part_known : forall l f h t u, find_part l f = Some (h, t, u) -> In (h, t, u) l /\ shape_name h = f.
Proof.
  intros l f h t u H. apply find_some in H as [Hin Hname]. cbn [fst] in Hname. apply String.eqb_eq in Hname. auto.
Qed.

Section Sound.
  Variable T : change.
  Variable S : storage.
  Variable e : env.
  Hypothesis names_differ : distinct (shapes (original T)) = true.
  Hypothesis all_tagged : List.length (tags S) = List.length (shapes (original T)).
  Hypothesis all_used : List.length (uses T) = List.length (shapes (original T)).

  Let hs := shapes (original T).
  Let parts := all_parts T S.
  Let P := poly_of hs e.

  Lemma part_shape : forall h t u, In (h, t, u) parts -> In h hs /\ In (h, u) (combine hs (uses T)).
  Proof.
    unfold parts, all_parts, hs. generalize (shapes (original T)) as l, (tags S) as ts, (uses T) as us.
    induction l as [|g l IH]; intros [|t' ts] [|u' us] h t u Hin; try (destruct Hin; fail).
    cbn [combine] in *. destruct Hin as [Heq | Hin].
    - injection Heq as -> -> ->. split; left; reflexivity.
    - destruct (IH _ _ _ _ _ Hin). split; right; assumption.
  Qed.

  Lemma part_of : forall h, In h hs -> exists t u, In (h, t, u) parts /\ In (h, u) (combine hs (uses T)).
  Proof. intros h Hh. exact (in_parts hs (tags S) (uses T) h all_tagged all_used Hh). Qed.

  Lemma part_unique : forall h t u t' u', In (h, t, u) parts -> In (h, t', u') parts -> t = t' /\ u = u'.
  Proof.
    unfold parts, all_parts. clear parts P. revert names_differ. unfold hs. clear hs all_tagged all_used.
    generalize (shapes (original T)) as l, (tags S) as ts, (uses T) as us.
    induction l as [|g l IH]; intros ts us Hd h t u t' u' Hin Hin'; [destruct Hin|].
    destruct ts as [|t0 ts]; [destruct Hin|]. destruct us as [|u0 us]; [destruct Hin|].
    cbn [combine] in *. cbn [distinct] in Hd. apply andb_prop in Hd as [Hd Hrest]. apply andb_prop in Hd as [Hd _].
    apply negb_true_iff in Hd.
    assert (Hnone : forall t u, In (g, t, u) (combine (combine l ts) us) -> False).
    { intros t1 u1 H. apply in_combine_l, in_combine_l in H.
      assert (Htrue : existsb (fun k => String.eqb (shape_name g) (shape_name k)) l = true).
      { apply existsb_exists. exists g. split; [exact H | apply String.eqb_refl]. }
      congruence. }
    destruct Hin as [Heq | Hin], Hin' as [Heq' | Hin'].
    - split; congruence.
    - injection Heq as -> -> ->. destruct (Hnone _ _ Hin').
    - injection Heq' as -> -> ->. destruct (Hnone _ _ Hin).
    - exact (IH ts us Hrest h t u t' u' Hin Hin').
  Qed.

  Lemma find_part_of : forall h t u, In (h, t, u) parts -> find_part parts (shape_name h) = Some (h, t, u).
  Proof.
    intros h t u Hin. destruct (find_part parts (shape_name h)) as [[[g t'] u']|] eqn:E.
    - apply find_part_known in E as [Hg Hname].
      assert (Heq : g = h) by (apply (distinct_same hs); [exact names_differ | apply (part_shape _ _ _ Hg) | apply (part_shape _ _ _ Hin) | exact Hname]).
      subst g. destruct (part_unique _ _ _ _ _ Hg Hin) as [-> ->]. reflexivity.
    - exfalso. apply (find_none _ _ E) in Hin. cbn [fst] in Hin. rewrite String.eqb_refl in Hin. discriminate.
  Qed.

  (** A scheduled event, as an instance of a part. *)
  Lemma scheduled_part : forall ev, scheduled P ev -> exists h t u, In (h, t, u) parts /\ In (h, u) (combine hs (uses T)) /\
    ev = Event (shape_name h) (arguments_of ev) [] /\ List.length (arguments_of ev) = List.length (shape_arguments h) /\
    decide (instance e h (arguments_of ev) []) (shape_domain h) = true /\
    time_of P ev = map (eval (instance e h (arguments_of ev) [])) (shape_time h) /\
    tag_of T S e ev = map (eval (instance e h (arguments_of ev) [])) t.
  Proof.
    intros [f x y] Hev. unfold P in *. pose proof Hev as Hev'. apply scheduled_instance in Hev'. rewrite time_instance.
    unfold has_instance, at_time in *. cbn [name_of arguments_of hint_of] in *.
    destruct (find_shape hs f (List.length x) (List.length y)) as [h|] eqn:Eh; [|contradiction].
    destruct (find_shape_known _ _ _ _ _ Eh) as (Hin & <- & Hx & Hy).
    pose proof (distinct_hints _ _ names_differ Hin) as Hhints. rewrite Hhints in Hy. destruct y; [|discriminate].
    destruct (part_of h Hin) as (t & u & Hpart & Huse). exists h, t, u. repeat split; auto.
    unfold tag_of, tag_in. cbn [name_of arguments_of]. fold parts. rewrite (find_part_of _ _ _ Hpart).
    rewrite (instance_no_hints e h x [] Hhints). reflexivity.
  Qed.

  Lemma find_shape_distinct : forall l h, distinct l = true -> In h l ->
    find_shape l (shape_name h) (List.length (shape_arguments h)) 0 = Some h.
  Proof.
    induction l as [|g l IH]; intros h Hd; [intros []|]. intros Hin. pose proof (distinct_hints _ _ Hd Hin) as Hhint.
    cbn [find_shape]. destruct (String.eqb_spec (shape_name h) (shape_name g)) as [Hname | Hname].
    - assert (Heq : g = h); [apply (distinct_same (g :: l)); [exact Hd | left; reflexivity | exact Hin | symmetry; exact Hname]|].
      subst g. rewrite Nat.eqb_refl, Hhint. reflexivity.
    - cbn [andb]. cbn [distinct] in Hd. apply andb_prop in Hd as [_ Hrest]. apply IH; [exact Hrest|].
      destruct Hin as [<- | Hin]; [congruence | exact Hin].
  Qed.

  Lemma instance_facts : forall h t u x, In (h, t, u) parts -> List.length x = List.length (shape_arguments h) ->
    decide (instance e h x []) (shape_domain h) = true -> let ev := Event (shape_name h) x [] in
    scheduled P ev /\ time_of P ev = map (eval (instance e h x [])) (shape_time h) /\
    tag_of T S e ev = map (eval (instance e h x [])) t.
  Proof.
    intros h t u x Hpart Hx Hd ev. destruct (part_shape _ _ _ Hpart) as [Hh _].
    pose proof (find_shape_distinct hs h names_differ Hh) as Hfind. unfold P. split; [|split].
    - apply scheduled_instance. unfold has_instance, ev. cbn [name_of arguments_of hint_of List.length]. rewrite Hx, Hfind. exact Hd.
    - rewrite time_instance. unfold at_time, ev. cbn [name_of arguments_of hint_of List.length]. rewrite Hx, Hfind. reflexivity.
    - unfold tag_of, tag_in, ev. cbn [name_of arguments_of]. fold parts. rewrite (find_part_of _ _ _ Hpart).
      rewrite (instance_no_hints e h x [] (distinct_hints _ _ names_differ Hh)). reflexivity.
  Qed.

  (** Tags have the same number of places. *)
  Lemma tags_alike : same_lengths (tags S) = true -> forall a b, scheduled P a -> scheduled P b ->
    List.length (tag_of T S e a) = List.length (tag_of T S e b).
  Proof.
    intros Hlen a b Ha Hb.
    assert (Hwidth : forall a, scheduled P a -> exists u, In u (tags S) /\ List.length (tag_of T S e a) = List.length u).
    { intros c Hc. destruct (scheduled_part c Hc) as (h & u & w & Hpart & _ & _ & _ & _ & _ & ->).
      exists u. split; [|apply map_length]. apply in_combine_l in Hpart. exact (in_combine_r _ _ _ _ Hpart). }
    destruct (Hwidth a Ha) as (u & Hu & ->). destruct (Hwidth b Hb) as (w & Hw & ->).
    destruct (tags S) as [|first rest]; [destruct Hu|]. cbn [same_lengths] in Hlen. rewrite forallb_forall in Hlen.
    assert (Hfirst : forall q, In q (first :: rest) -> List.length q = List.length first).
    { intros q [<- | Hq]; [reflexivity | apply Nat.eqb_eq, Hlen, Hq]. }
    rewrite (Hfirst u Hu), (Hfirst w Hw). reflexivity.
  Qed.

  (** What an instance of a part writes and reads. *)
  Lemma part_cells : forall h u x c, In (h, u) (combine hs (uses T)) -> In h hs ->
    (writes (stated T e) (Event (shape_name h) x []) c <-> In c (map (place_at (instance e h x [])) (may_write u))) /\
    (reads (stated T e) (Event (shape_name h) x []) c <-> In c (map (place_at (instance e h x [])) (may_read u))).
  Proof.
    intros h u x c Hin Hh. rewrite (instance_no_hints e h x [] (distinct_hints _ _ names_differ Hh)).
    unfold stated, memory_uses. cbn [reads writes accesses_of].
    rewrite !(distinct_cells _ e hs (uses T) h u x [] _ names_differ all_used Hin eq_refl). cbn [touches access_of reads_of writes_of].
    split; reflexivity.
  Qed.

  Variable c0 : scope.
  Variable s0 : state.
  Variable v0 : list Z.
  Hypothesis begun : models v0 s0.
  Hypothesis sized : agrees e c0 v0.

  Lemma apart_equal : forall v a b x y, denote_all v a x -> denote_all v b y -> ~ true_at v (apart a b) -> x = y.
  Proof.
    intros v a b x y Ha Hb H. destruct (agree_dec x y) as [He | He]; [exact (agree_equal _ _ He)|].
    destruct (H (apart_true _ _ _ _ _ Ha Hb He)).
  Qed.

  Lemma origin_sound : forall h t u x c o, In (h, t, u) parts -> List.length x = List.length (shape_arguments h) ->
    decide (instance e h x []) (shape_domain h) = true ->
    Forall refuted (origin_goals parts c0 s0 (h, t, u) c o) ->
    let b := Event (shape_name h) x [] in let d := place_at (instance e h x []) c in
    exists a, scheduled P a /\ writes (stated T e) a d /\ tag_of T S e a = tag_of T S e b /\ lex_lt (time_of P a) (time_of P b) /\
      forall k, scheduled P k -> writes (stated T e) k d -> lex_lt (time_of P a) (time_of P k) -> lex_lt (time_of P k) (time_of P b) ->
      tag_of T S e k = tag_of T S e b.
  Proof.
    intros h t u x c o Hpart Hx Hdom H b d. unfold origin_goals in H.
    destruct (find_part parts (origin_statement o)) as [[[g tg] ug]|] eqn:Eg; [|destruct (unfit_false H)].
    destruct (nth_error (may_write ug) (origin_write o)) as [[y w]|] eqn:Ew; [|destruct (unfit_false H)].
    destruct (String.eqb (fst c) y && Nat.eqb (List.length (origin_arguments o)) (List.length (shape_arguments g))) eqn:Ecmp;
      [|destruct (unfit_false H)].
    apply andb_prop in Ecmp as [Ey Elen]. apply String.eqb_eq in Ey. apply Nat.eqb_eq in Elen.
    destruct (find_part_known _ _ _ _ _ Eg) as [Hg _].
    destruct (part_shape _ _ _ Hpart) as [Hh Huse]. destruct (part_shape _ _ _ Hg) as [Hgs Hug].
    pose proof (distinct_hints _ _ names_differ Hh) as Hhh. pose proof (distinct_hints _ _ names_differ Hgs) as Hgh.
    destruct (some_instance h c0 s0) as [[[xs ys] i] s1] eqn:E1.
    destruct (some_instance_models _ _ _ _ _ _ _ e v0 x [] E1 begun sized Hx ltac:(rewrite Hhh; reflexivity) Hdom)
      as (w1 & Hm1 & _ & _ & Hi). set (ie := instance e h x []) in *.
    destruct (linear_list i (origin_arguments o) s1) as [as_ s2] eqn:E2.
    destruct (linear_list_models _ _ _ _ _ _ _ E2 Hi Hm1) as (w2 & Hm2 & Has).
    set (z := map (eval ie) (origin_arguments o)) in *. set (je := instance e g z []).
    set (j := combine (shape_arguments g) as_ ++ c0) in *.
    assert (Hj : agrees je j ((v0 ++ w1) ++ w2)).
    { unfold je, j. rewrite (instance_no_hints e g z [] Hgh). apply agrees_app; [apply agrees_combine, Has | do 2 apply agrees_more; exact sized]. }
    destruct (known j false (shape_domain g) s2) as [outside s3] eqn:E3.
    destruct (known_models _ _ _ _ _ _ _ _ E3 Hj Hm2) as (w3 & Hm3 & Hout).
    set (v3 := ((v0 ++ w1) ++ w2) ++ w3) in *.
    assert (Hi3 : agrees ie i v3) by (do 2 apply agrees_more; exact Hi).
    assert (Hj3 : agrees je j v3) by (apply agrees_more; exact Hj).
    destruct (linear_all [(i, snd c); (j, w); (i, shape_time h); (j, shape_time g); (i, t); (j, tg)] s3) as [ls s4] eqn:E4.
    destruct (linear_all_models [((i, snd c), ie); ((j, w), je); ((i, shape_time h), ie); ((j, shape_time g), je); ((i, t), ie); ((j, tg), je)]
      s3 ls s4 v3 E4 Hm3 ltac:(repeat constructor; assumption)) as (w4 & Hm4 & Hls).
    inversion Hls as [|? read ? ls1 Hread Hl1]; subst.
    inversion Hl1 as [|? written ? ls2 Hwritten Hl2]; subst. inversion Hl2 as [|? now ? ls3 Hnow Hl3]; subst.
    inversion Hl3 as [|? before ? ls4 Hbefore Hl4]; subst. inversion Hl4 as [|? here ? ls5 Hhere Hl5]; subst.
    inversion Hl5 as [|? there ? ls6 Hthere Hl6]; subst. inversion Hl6; subst. cbn [fst snd] in *. clear Hl1 Hl2 Hl3 Hl4 Hl5 Hl6.
    set (v4 := v3 ++ w4) in *. inversion H as [|? ? Hgoal Hothers]; subst. clear H.
    assert (Hno : forall f, In f [outside; apart read written; not_earlier before now; apart there here] -> ~ true_at v4 f).
    { intros f Hf Ht. apply (refuted_state _ _ _ Hgoal Hm4). apply either_true, Exists_exists. exists f. auto. }
    assert (Hzlen : List.length z = List.length (shape_arguments g)) by (unfold z; rewrite map_length; exact Elen).
    assert (Hzdom : decide je (shape_domain g) = true).
    { destruct (decide je (shape_domain g)) eqn:Hd; [reflexivity|]. exfalso. apply (Hno outside); [left; reflexivity|].
      apply true_at_more. apply Hout. reflexivity. }
    assert (Hcell : map (eval ie) (snd c) = map (eval je) w).
    { apply (apart_equal _ _ _ _ _ Hread Hwritten). apply Hno. right. left. reflexivity. }
    assert (Htags : map (eval je) tg = map (eval ie) t).
    { apply (apart_equal _ _ _ _ _ Hthere Hhere). apply Hno. do 3 right. left. reflexivity. }
    assert (Htimes : lex_lt (map (eval je) (shape_time g)) (map (eval ie) (shape_time h))).
    { destruct (lex_lt_dec (map (eval je) (shape_time g)) (map (eval ie) (shape_time h))) as [Hlt | Hnot]; [exact Hlt|].
      exfalso. apply (Hno (not_earlier before now)); [do 2 right; left; reflexivity|]. exact (not_earlier_true _ _ _ _ _ Hbefore Hnow Hnot). }
    assert (Hb : scheduled P b /\ time_of P b = map (eval ie) (shape_time h) /\ tag_of T S e b = map (eval ie) t).
    { exact (instance_facts h t u x Hpart Hx Hdom). }
    destruct Hb as (_ & Hbt & Hbg).
    set (a := Event (shape_name g) z []).
    destruct (instance_facts g tg ug z Hg Hzlen Hzdom) as (Ha & Hat & Hag). fold a in Ha, Hat, Hag. fold je in Hat, Hag.
    exists a. rewrite Hbt, Hbg, Hat, Hag. split; [exact Ha|]. split; [|split; [exact Htags|split; [exact Htimes|]]].
    - apply (part_cells g ug z d Hug Hgs). fold je. unfold d, place_at. rewrite Hcell.
      apply in_map_iff. exists (fst c, w). split; [reflexivity | exact (nth_error_In _ _ Ew)].
    - intros k Hk Hwk Hak Hkb.
      destruct (scheduled_part k Hk) as (q & tq & uq & Hq & Huq & Hkev & Hkx & Hkd & Hkt & Hktag).
      destruct (part_shape _ _ _ Hq) as [Hqs _]. set (kx := arguments_of k) in *. set (ke := instance e q kx []) in *.
      rewrite Hkev in Hwk. clear Hkev. apply (part_cells q uq kx d Huq Hqs) in Hwk. fold ke in Hwk.
      apply in_map_iff in Hwk as (c' & Hc' & Hin'). unfold d, place_at in Hc'. injection Hc' as Hname Hsub.
      rewrite Hkt in Hak, Hkb. rewrite Hktag.
      assert (Hgoals : Forall refuted (let '(_, _, kk, s5) := some_instance q c0 s4 in
                match linear_all [(kk, snd c'); (kk, shape_time q); (kk, tq)] s5 with
                | ([touched; between; other], s6) =>
                    [exclude (both [same_place touched read; earlier before between; earlier between now; apart other here]) s6]
                | _ => unfit
                end)).
      { apply Forall_forall. intros gl Hgl. rewrite Forall_forall in Hothers. apply Hothers.
        apply in_flat_map. exists (q, tq, uq). split; [exact Hq|]. cbn [fst snd]. apply in_flat_map. exists c'.
        split; [exact Hin'|]. rewrite Hname, String.eqb_refl. exact Hgl. }
      destruct (some_instance q c0 s4) as [[[ks ?] kk] s5] eqn:E5.
      pose proof (distinct_hints _ _ names_differ Hqs) as Hqh.
      assert (Hc4 : agrees e c0 v4) by (do 4 apply agrees_more; exact sized).
      destruct (some_instance_models _ _ _ _ _ _ _ e v4 kx [] E5 Hm4 Hc4 Hkx ltac:(rewrite Hqh; reflexivity) Hkd)
        as (w5 & Hm5 & _ & _ & Hke). fold ke in Hke.
      destruct (linear_all [(kk, snd c'); (kk, shape_time q); (kk, tq)] s5) as [ms s6] eqn:E6.
      destruct (linear_all_models [((kk, snd c'), ke); ((kk, shape_time q), ke); ((kk, tq), ke)] s5 ms s6 (v4 ++ w5) E6 Hm5
        ltac:(repeat constructor; assumption)) as (w6 & Hm6 & Hms).
      inversion Hms as [|? touched ? ms1 Htouched Hms1]; subst. inversion Hms1 as [|? between ? ms2 Hbetween Hms2]; subst.
      inversion Hms2 as [|? other ? ms3 Hother Hms3]; subst. inversion Hms3; subst. cbn [fst snd] in *.
      inversion Hgoals as [|? ? Hlast _]; subst.
      destruct (agree_dec (map (eval ke) tq) (map (eval ie) t)) as [He | He]; [exact (agree_equal _ _ He)|]. exfalso.
      apply (refuted_state _ _ _ Hlast Hm6). apply both_true.
      assert (Hup : forall l zs, denote_all v4 l zs -> denote_all ((v4 ++ w5) ++ w6) l zs) by (intros; do 2 apply denote_all_more; assumption).
      repeat constructor.
      + apply (same_place_true _ _ _ (map (eval ke) (snd c'))); [exact Htouched|]. rewrite Hsub. apply Hup, Hread.
      + exact (earlier_true _ _ _ _ _ (Hup _ _ Hbefore) Hbetween Hak).
      + exact (earlier_true _ _ _ _ _ Hbetween (Hup _ _ Hnow) Hkb).
      + exact (apart_true _ _ _ _ _ Hother (Hup _ _ Hhere) He).
  Qed.

  Lemma origins_sound : forall h t u cs os, In (h, t, u) parts -> Forall refuted (origins_goals parts c0 s0 (h, t, u) cs os) ->
    forall c, In c cs -> exists o, Forall refuted (origin_goals parts c0 s0 (h, t, u) c o).
  Proof.
    intros h t u cs. induction cs as [|c cs IH]; intros os Hpart H d Hd; [destruct Hd|].
    destruct os as [|o os]; cbn [origins_goals] in H; [destruct (unfit_false H)|]. apply Forall_app in H as [H1 H2].
    destruct Hd as [<- | Hd]; [exists o; exact H1 | exact (IH os Hpart H2 d Hd)].
  Qed.

  Lemma contained_goals_sound : forall todo os, Forall refuted (contained_goals S c0 s0 parts todo os) ->
    forall p, In p todo -> exists o, Forall refuted (origins_goals parts c0 s0 p (temporary_reads S (snd p)) o).
  Proof.
    induction todo as [|q todo IH]; intros [|o os] H p Hp; try (destruct Hp; fail); cbn [contained_goals] in H;
      try (destruct (unfit_false H)).
    apply Forall_app in H as [H1 H2]. destruct Hp as [<- | Hp]; [exists o; exact H1 | exact (IH os H2 p Hp)].
  Qed.

  (** In a trace that runs the original schedule, whose times are all different. *)
  Lemma contained_sound : forall os tr, Forall refuted (contained_goals S c0 s0 parts parts os) ->
    runs_schedule P tr -> (forall a b, scheduled P a -> scheduled P b -> time_of P a = time_of P b -> a = b) ->
    contained (stated T e) (is_temporary S) (tag_of T S e) tr.
  Proof.
    intros os tr H [Hall Honce Hsorted] Hdiffer b d Hb Ht Hr. apply Hall in Hb as Hsb.
    destruct (scheduled_part b Hsb) as (h & t & u & Hpart & Huse & Hbev & Hbx & Hbd & Hbt & Hbtag).
    destruct (part_shape _ _ _ Hpart) as [Hh _].
    pose proof Hr as Hr'. rewrite Hbev in Hr'. apply (part_cells h u _ d Huse Hh) in Hr'.
    apply in_map_iff in Hr' as (c & Hc & Hin).
    destruct (contained_goals_sound _ _ H _ Hpart) as [o Ho]. cbn [snd] in Ho.
    destruct (origins_sound h t u _ _ Hpart Ho c) as [one Hone].
    { apply filter_In. split; [exact Hin|]. rewrite <- Hc in Ht. exact Ht. }
    destruct (origin_sound h t u (arguments_of b) c one Hpart Hbx Hbd Hone) as (a & Ha & Hwa & Htag & Hlt & Hothers).
    rewrite <- Hbev in *. rewrite Hc in *.
    assert (Horder : forall x y, scheduled P x -> scheduled P y -> lex_lt (time_of P x) (time_of P y) -> precedes tr x y).
    { intros x y Hx Hy Hxy. destruct (one_precedes tr x y) as [-> | [Hp | Hp]]; [apply Hall, Hx | apply Hall, Hy | | exact Hp |].
      - destruct (lex_lt_irreflexive _ Hxy).
      - destruct (sorted_precedes _ _ _ _ Hsorted Hp Hxy). }
    assert (Htimes : forall x y, precedes tr x y -> lex_lt (time_of P x) (time_of P y)).
    { intros x y Hp. destruct (precedes_in _ _ _ _ Hp) as [Hx Hy].
      destruct (lex_lt_total (time_of P x) (time_of P y)) as [Hl | [Hl | Hl]]; [exact Hl | |].
      - apply (Hdiffer x y) in Hl; [|apply Hall, Hx | apply Hall, Hy]. subst y.
        destruct (precedes_asym _ _ _ _ Honce Hp Hp).
      - destruct (sorted_precedes _ _ _ _ Hsorted Hp Hl). }
    exists a. split; [exact (Horder a b Ha Hsb Hlt) | split; [exact Hwa | split; [exact Htag|]]].
    intros k Hak Hkb Hwk. apply Hothers; [|exact Hwk | exact (Htimes _ _ Hak) | exact (Htimes _ _ Hkb)].
    apply Hall. exact (proj2 (precedes_in _ _ _ _ Hak)).
  Qed.

  (** *** Tags *)

  Lemma not_begins_true : forall v a b x y, denote_all v a x -> denote_all v b y -> ~ begins_as x y -> true_at v (not_begins a b).
  Proof.
    intros v a b x y Ha. revert b y. induction Ha as [|l p a x Hl _ IH]; intros b y Hb H; cbn [not_begins begins_as] in *.
    - apply either_true. destruct (Exists_dec (fun z => z <> 0) y) as [He | He].
      { intros z. destruct (Z.eq_dec z 0) as [-> | Hz]; [right; auto | left; exact Hz]. }
      + clear H. induction Hb as [|m q b y Hm _ IHb]; inversion He as [? ? Hq | ? ? Hq]; subst; cbn [map].
        * left. refine (differ_true _ _ _ _ _ (denotes_number _ _) Hm _). auto.
        * right. exact (IHb Hq).
      + exfalso. apply H. apply Forall_forall. intros z Hz. destruct (Z.eq_dec 0 z) as [Heq | Hne]; [exact Heq|].
        exfalso. apply He, Exists_exists. exists z. split; [exact Hz | auto].
    - destruct Hb as [|m q b y Hm Hb]; [exact I|]. apply either_true.
      destruct (Z.eq_dec p q) as [Heq | Hne]; [right; left | left; exact (differ_true _ _ _ _ _ Hl Hm Hne)].
      apply (IH b y Hb). tauto.
  Qed.

  Lemma begins_as_dec : forall x y, begins_as x y \/ ~ begins_as x y.
  Proof.
    induction x as [|a x IH]; intros y; cbn [begins_as].
    - destruct (Forall_dec (eq 0) (Z.eq_dec 0) y); auto.
    - destruct y as [|b y]; [auto|]. destruct (Z.eq_dec a b); [destruct (IH y)|]; tauto.
  Qed.

  Lemma tag_goals_sound : forall n left marked way c s en v z, Forall refuted (tag_goals parts c0 left marked way c s n) ->
    agrees en c v -> agrees e c0 v -> models v s -> denote_all v way z -> tagged (tag_of T S e) left marked z en n.
  Proof.
    induction n as [f args hint|ns IH|t a b IHa IHb|x a t d b IHb|x a b IHb|text b IHb] using node_induction;
      intros left marked way c s en v z H Hc Hp Hm Hz; cbn [tag_goals tagged] in *.
    - destruct (find_part parts f) as [[[h t] u]|] eqn:Ef; [|destruct (unfit_false H)].
      destruct (linear_list c args s) as [xs s1] eqn:E1.
      destruct (linear_list_models _ _ _ _ _ _ _ E1 Hc Hm) as (w1 & Hm1 & Hxs).
      destruct (linear_list (combine (shape_arguments h) xs ++ c0) t s1) as [m s2] eqn:E2.
      assert (Hj : agrees (combine (shape_arguments h) (map (eval en) args) ++ e) (combine (shape_arguments h) xs ++ c0) (v ++ w1)).
      { apply agrees_app; [apply agrees_combine, Hxs | apply agrees_more, Hp]. }
      destruct (linear_list_models _ _ _ _ _ _ _ E2 Hj Hm1) as (w2 & Hm2 & Hms).
      inversion H as [|? ? Hgoal _]; subst. unfold tag_of, tag_in. cbn [name_of arguments_of]. fold parts. rewrite Ef.
      match goal with |- begins_as ?k ?t => destruct (begins_as_dec k t) as [Hy | Hn]; [exact Hy|] end. exfalso.
      apply (refuted_state _ _ _ Hgoal Hm2). refine (not_begins_true _ _ _ _ _ _ Hms Hn).
      destruct (Nat.eqb left 0); constructor; [apply denotes_number | do 2 apply denote_all_more; exact Hz].
    - revert H. generalize 0 as k. induction IH as [|n ns Hn _ IHns]; intros k H; [exact I|].
      apply Forall_app in H as [H1 H2]. split; [|exact (IHns (k + 1) H2)].
      apply (Hn _ _ _ _ _ _ _ _ H1 Hc Hp Hm). destruct (Nat.eqb left 0); [exact Hz|].
      apply denote_all_app; [exact Hz | constructor; [apply denotes_number | constructor]].
    - destruct (known c true t s) as [f s1] eqn:E1. destruct (known c false t s) as [f' s1'] eqn:E1'.
      apply Forall_app in H as [H1 H2]. split; intros Ht.
      + destruct (known_models _ _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hf). apply decide_holds in Ht.
        exact (IHa _ _ _ _ _ _ _ _ H1 (agrees_more _ _ _ w Hc) (agrees_more _ _ _ w Hp) (assume_models _ _ _ Hm1 (Hf Ht)) (denote_all_more _ w _ _ Hz)).
      + destruct (known_models _ _ _ _ _ _ _ _ E1' Hc Hm) as (w & Hm1 & Hf). apply decide_fails in Ht.
        exact (IHb _ _ _ _ _ _ _ _ H2 (agrees_more _ _ _ w Hc) (agrees_more _ _ _ w Hp) (assume_models _ _ _ Hm1 (Hf Ht)) (denote_all_more _ w _ _ Hz)).
    - destruct (fresh s) as [lv s1] eqn:E1. intros y Hy Ht. destruct (fresh_models _ _ y _ _ E1 Hm) as [Hm1 Hv].
      pose proof (agrees_more _ _ _ [y] Hc) as Hc1.
      destruct (in_loop_models _ _ x _ _ _ _ _ _ _ Hm1 Hc1 Hv Hy Ht) as [w Hm2].
      apply (IHb _ _ _ _ _ _ _ _ H (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w Hc1) (denotes_more _ w _ _ Hv))
        (agrees_more _ _ _ w (agrees_more _ _ _ [y] Hp)) Hm2).
      destruct (Nat.eqb left 0); [do 2 apply denote_all_more; exact Hz|].
      apply denote_all_app; [do 2 apply denote_all_more; exact Hz | constructor; [apply denotes_more, Hv | constructor]].
    - destruct (linear c a s) as [m s1] eqn:E1. destruct (linear_models _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hd).
      exact (IHb _ _ _ _ _ _ _ _ H (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w Hc) Hd) (agrees_more _ _ _ w Hp) Hm1 (denote_all_more _ w _ _ Hz)).
    - exact (IHb _ _ _ _ _ _ _ _ H Hc Hp Hm Hz).
  Qed.
End Sound.

(** *** Accesses to copies *)

Lemma obeys_more : forall (A B : accesses) value combine (effect : event -> memory value -> memory value),
  (forall ev c, reads A ev c -> reads B ev c) -> (forall ev c, writes A ev c -> writes B ev c) ->
  (forall ev, combines A ev = combines B ev) -> obeys A combine effect -> obeys B combine effect.
Proof.
  intros A B value combine effect Hr Hw Hk [Hframe Hdetermined Horder]. constructor; [| |exact Horder].
  - intros ev m c. destruct (Hframe ev m c); auto.
  - intros ev m m' Hsame c. rewrite <- Hk. apply Hdetermined. auto.
Qed.

Lemma copies_touched : forall S e hs ts us ev c, List.length ts = List.length hs -> List.length us = List.length hs ->
  (touches (cells_of writes_of (map (access_of e) (combine hs us)) ev) c ->
   touches (cells_of writes_of (map (access_of e) (combine hs (map (own_use S) (combine ts us)))) ev)
     (own (is_temporary S) (tag_in (combine (combine hs ts) us) e) ev c)) /\
  (touches (cells_of reads_of (map (access_of e) (combine hs us)) ev) c ->
   touches (cells_of reads_of (map (access_of e) (combine hs (map (own_use S) (combine ts us)))) ev)
     (own (is_temporary S) (tag_in (combine (combine hs ts) us) e) ev c)) /\
  operator_of (combine hs us) ev = operator_of (combine hs (map (own_use S) (combine ts us))) ev.
Proof.
  intros S e. induction hs as [|h hs IH]; intros [|t ts] [|u us] ev c Ht Hu; try discriminate; [cbn; auto|].
  cbn [combine map cells_of access_of statement_name operator_of]. unfold own, tag_in, find_part. cbn [List.find fst].
  destruct (String.eqb (name_of ev) (shape_name h)).
  - cbn [touches reads_of writes_of own_use may_read may_write combined_by fst snd].
    assert (Hone : forall l, In c (map (place_at (combine (shape_arguments h) (arguments_of ev) ++ e)) l) ->
              In (if is_temporary S (fst c)
                  then (fst c, map (eval (combine (shape_arguments h) (arguments_of ev) ++ e)) t ++ snd c) else c)
                 (map (place_at (combine (shape_arguments h) (arguments_of ev) ++ e)) (map (own_place S t) l))).
    { intros l Hin. apply in_map_iff in Hin as (q & <- & Hq). rewrite map_map. apply in_map_iff. exists q. split; [|exact Hq].
      unfold own_place, place_at. cbn [fst snd]. destruct (is_temporary S (fst q)); cbn [fst snd]; rewrite ?map_app; reflexivity. }
    split; [apply Hone | split; [apply Hone | reflexivity]].
  - exact (IH ts us ev c ltac:(cbn in Ht; lia) ltac:(cbn in Hu; lia)).
Qed.

Lemma copies_written : forall S e hs ts us ev c', List.length ts = List.length hs -> List.length us = List.length hs ->
  touches (cells_of writes_of (map (access_of e) (combine hs (map (own_use S) (combine ts us)))) ev) c' ->
  exists c, c' = own (is_temporary S) (tag_in (combine (combine hs ts) us) e) ev c /\
  touches (cells_of writes_of (map (access_of e) (combine hs us)) ev) c.
Proof.
  intros S e. induction hs as [|h hs IH]; intros [|t ts] [|u us] ev c' Ht Hu; try discriminate.
  { intros _. exists c'. split; [destruct c' as [x l]; unfold own; cbn; destruct (is_temporary S x); reflexivity | exact I]. }
  cbn [combine map cells_of access_of statement_name]. unfold own, tag_in, find_part. cbn [List.find fst].
  destruct (String.eqb (name_of ev) (shape_name h)).
  - cbn [touches reads_of writes_of own_use may_read may_write fst snd]. rewrite map_map. intros Hin.
    apply in_map_iff in Hin as (q & <- & Hq).
    exists (place_at (combine (shape_arguments h) (arguments_of ev) ++ e) q). split; [|exact (in_map _ _ _ Hq)].
    unfold own_place, place_at. cbn [fst snd]. destruct (is_temporary S (fst q)); cbn [fst snd]; rewrite ?map_app; reflexivity.
  - exact (IH ts us ev c' ltac:(cbn in Ht; lia) ltac:(cbn in Hu; lia)).
Qed.

Section Copied.
  Variables (T : change) (S : storage) (e : env).
  Hypothesis all_tagged : List.length (tags S) = List.length (shapes (original T)).
  Hypothesis all_used : List.length (uses T) = List.length (shapes (original T)).

  Lemma privately_stated : forall value combine (effect : event -> memory value -> memory value),
    obeys (stated T e) combine effect ->
    obeys (stated (with_copies T S) e) combine (privately (is_temporary S) (tag_of T S e) effect).
  Proof.
    intros value combine effect H. eapply obeys_more; [| | |exact (privately_obeys _ (is_temporary S) (tag_of T S e) _ _ _ H)].
    - intros ev d (d' & Hd & ->). exact (proj1 (proj2 (copies_touched S e _ (tags S) (uses T) ev d' all_tagged all_used)) Hd).
    - intros ev d (d' & Hd & ->). exact (proj1 (copies_touched S e _ (tags S) (uses T) ev d' all_tagged all_used) Hd).
    - intros ev. exact (proj2 (proj2 (copies_touched S e _ (tags S) (uses T) ev (""%string, []) all_tagged all_used))).
  Qed.

  Lemma privately_surely : forall value (effect : event -> memory value -> memory value) others,
    surely (stated T e) others effect ->
    surely (stated (with_copies T S) e) others (privately (is_temporary S) (tag_of T S e) effect).
  Proof.
    intros value effect others H ev c' Hx Hw m m' Hreads.
    apply (copies_written S e _ (tags S) (uses T) ev c' all_tagged all_used) in Hw as (c & -> & Hw).
    change (tag_in (combine (combine (shapes (original T)) (tags S)) (uses T)) e) with (tag_of T S e) in *.
    rewrite !privately_own. apply H; [| exact Hw |].
    - revert Hx. unfold own. destruct (is_temporary S (fst c)); exact (fun H => H).
    - intros r Hr. apply Hreads. exact (proj1 (proj2 (copies_touched S e _ (tags S) (uses T) ev r all_tagged all_used)) Hr).
  Qed.

  Lemma copies_used : List.length (uses (with_copies T S)) = List.length (shapes (original (with_copies T S))).
  Proof. cbn [with_copies uses original]. rewrite map_length, combine_length, all_tagged, all_used. apply Nat.min_id. Qed.
End Copied.

(** *** All layers, in the order of the original *)

Section Layers.
  Variables (G : specification) (e : env) (c : scope) (s : state) (v : list Z) (t : trace) (n : node).
  Hypothesis names_differ : distinct (shapes G) = true.
  Hypothesis begun : beginning G = (c, s).
  Hypothesis Hm : models v s.
  Hypothesis Hc : agrees e c v.
  Hypothesis Hsched : runs_schedule (poly_of (shapes G) e) t.
  Hypothesis Hdiffer : forall a b, scheduled (poly_of (shapes G) e) a -> scheduled (poly_of (shapes G) e) b ->
    Poly.time_of (poly_of (shapes G) e) a = Poly.time_of (poly_of (shapes G) e) b -> a = b.

  Lemma layers_same : forall Ss T, original T = G -> List.length (uses T) = List.length (shapes G) ->
    forallb (fun kS => fitting T (snd kS)) Ss = true -> Forall refuted (all_storage_goals T Ss n) ->
    Forall (fun L => tagged (tag_in_layer L) (depth L) false [] e n) (layers_of T Ss e) /\
    forall value combine (effect : event -> memory value -> memory value), obeys (stated T e) combine effect ->
    Forall (fun L => surely (stated T e) (hidden L) effect) (layers_of T Ss e) ->
    obeys (stated (with_all_copies T Ss) e) combine (with_layers (layers_of T Ss e) effect) /\
    forall m m', same_but (in_layers (layers_of T Ss e)) value m m' ->
    leave_alike (stated T e) (layers_of T Ss e) effect t t m m'.
  Proof.
    induction Ss as [|[k S] Ss IH]; intros T HT Hused Hfit Hgoals.
    - split; [constructor|]. intros value combine effect Hobeys _. split; [exact Hobeys|]. intros m m' Hsame.
      split; [|intros L Ls' Hnone; discriminate].
      intros x Hx. apply (run_same _ _ _ _ _ _ effect Hobeys). intros y. apply Hsame. reflexivity.
    - cbn [forallb] in Hfit. apply andb_prop in Hfit as [Hfit Hrest]. cbn [snd] in Hfit. unfold fitting in Hfit.
      apply andb_prop in Hfit as [Hlen Hlt]. apply Nat.eqb_eq in Hlt. cbn [all_storage_goals] in Hgoals.
      apply Forall_app in Hgoals as [Hone Hgoals]. unfold storage_goals in Hone. rewrite HT, begun in Hone.
      apply Forall_app in Hone as [Hcontained Htags]. subst G.
      pose proof (copies_used T S Hlt Hused) as Hused'.
      destruct (IH (with_copies T S) eq_refl Hused' Hrest Hgoals) as [Htagged Hothers]. cbn [layers_of with_layers].
      split; [constructor; [exact (tag_goals_sound T S e c n _ _ _ _ _ _ _ _ Htags Hc Hc Hm (Forall2_nil _)) | exact Htagged]|].
      intros value combine effect Hobeys Hsurely. inversion Hsurely as [|? ? Hfirst Hlater]; subst.
      pose proof (privately_stated T S e Hlt Hused value combine effect Hobeys) as Hobeys1.
      assert (Hsurely1 : Forall (fun L => surely (stated (with_copies T S) e) (hidden L) (privately (is_temporary S) (tag_of T S e) effect))
                (layers_of (with_copies T S) Ss e)).
      { revert Hlater. apply Forall_impl. intros L. exact (privately_surely T S e Hlt Hused value effect (hidden L)). }
      destruct (Hothers value combine _ Hobeys1 Hsurely1) as [Hob Hsame]. split; [exact Hob|].
      intros m m' Hmm.
      pose proof (contained_sound T S e names_differ Hlt Hused c s v Hm Hc _ t Hcontained Hsched Hdiffer) as Hin.
      assert (Hlens : same_lengths_in (tag_of T S e) t).
      { intros a b Ha Hb. apply (tags_alike T S e names_differ Hlt Hused Hlen); apply (all_and_only _ _ Hsched); assumption. }
      set (middle := fun y : cell => if is_temporary S (fst y) then m' y else m y).
      assert (Hfirst_but : same_but (is_temporary S) value m middle).
      { intros y Hy. unfold middle. rewrite Hy. reflexivity. }
      assert (Hlater_but : same_but (in_layers (layers_of (with_copies T S) Ss e)) value middle m').
      { intros y Hy. unfold middle. destruct (is_temporary S (fst y)) eqn:E; [reflexivity|].
        apply Hmm. unfold in_layers in *. cbn [layers_of existsb hidden]. rewrite E. exact Hy. }
      destruct (Hsame middle m' Hlater_but) as [Hbut _]. split.
      + intros x Hx. cbn [layers_of in_layers existsb hidden] in Hx. apply orb_false_iff in Hx as [Hx1 Hx2].
        rewrite (private_copies (stated T e) (is_temporary S) (tag_of T S e) value combine effect Hobeys Hfirst t m middle
          (each_once _ _ Hsched) Hin Hlens Hfirst_but x Hx1). exact (Hbut x Hx2).
      + cbn [layers_of]. intros L Ls' Heq a x Hx Hother Hlast. injection Heq as <- <-. cbn [hidden tag_in_layer] in *.
        rewrite (last_copies (stated T e) (is_temporary S) (tag_of T S e) value combine effect Hobeys Hfirst t m middle a x
          (each_once _ _ Hsched) Hin Hlens Hfirst_but Hx Hlast).
        apply Hbut. unfold own. rewrite Hx. exact Hother.
  Qed.
End Layers.

(** ** The theorem

    Two programs that pass the check leave the same memory except in
    temporaries: for all values of the parameters, all memories and all
    instructions that do what is stated, whatever order the marked loops of the
    second take their iterations in, each iteration with its own temporaries.
    What a temporary held is in the copy of the iteration that writes it last. *)
Theorem check_same_privately : forall T Ss n n' how how' cs, check_private T Ss n n' how how' cs = true ->
  forall p, context (meant (original T)) p ->
  let e := environment (meant (original T)) p in
  compute_the_same_privately (stated T e) (layers_of T Ss e) e n n'.
Proof.
  intros T Ss n n' how how' cs H p Hp e. unfold check_private in H.
  apply andb_prop in H as [H Hcs]. apply andb_prop in H as [H Hlu].
  apply andb_prop in H as [Hwell Hfit]. apply Nat.eqb_eq in Hlu.
  apply refutes_all_sound in Hcs. unfold private_goals in Hcs. apply Forall_app in Hcs as [Hchange Hstorage].
  assert (Horiginal : forall Rs R, original (with_all_copies R Rs) = original R).
  { induction Rs as [|R' Rs IH]; intros R; [reflexivity | exact (IH (with_copies R (snd R')))]. }
  pose proof (goals_same_memory (with_all_copies T Ss) n n' how how' Hwell Hchange p) as Hsame.
  pose proof Hwell as Hw. unfold well_formed_change in Hw. apply andb_prop in Hw as [Hw Hties]. apply andb_prop in Hw as [Hw _].
  apply andb_prop in Hw as [Hw _]. apply andb_prop in Hw as [Hw _]. apply andb_prop in Hw as [Hw Hdistinct].
  apply andb_prop in Hw as [Hw _]. rewrite Horiginal in Hw, Hdistinct, Hsame. specialize (Hsame Hp). fold e in Hsame.
  destruct how as [g k [|tie rest]]; [|discriminate]. clear Hties.
  unfold change_goals in Hchange. apply Forall_app in Hchange as [Hold _]. rewrite Horiginal in Hold.
  destruct (goals_implement _ _ _ Hw Hold) as [_ Himpl]. destruct (Himpl p Hp) as (t0 & Hrun0 & Hsched).
  destruct (beginning (original T)) as [c s] eqn:Eb.
  destruct (beginning_models _ _ _ _ Eb Hp) as (v & Hm & Hc). fold e in Hc.
  assert (Hdiffer : forall a b, scheduled (poly_of (shapes (original T)) e) a -> scheduled (poly_of (shapes (original T)) e) b ->
            Poly.time_of (poly_of (shapes (original T)) e) a = Poly.time_of (poly_of (shapes (original T)) e) b -> a = b).
  { intros a b Ha Hb Htime. destruct (walked _ _ _ p Hold Hp) as (Hreg & Hcov & _ & Hord). cbn [ties] in Hord.
    rewrite untied_nothing in Hord. exact (times_differ _ _ _ Hreg Hcov Hord a b Ha Hb Htime). }
  destruct (layers_same (original T) e c s v t0 n' Hdistinct Eb Hm Hc Hsched Hdiffer Ss T eq_refl Hlu Hfit Hstorage) as [Htagged Hlayers].
  split; [exact Htagged|]. destruct Hsame as (t & Ht & Hends & Hany). pose proof (runs_deterministic _ _ _ Ht _ Hrun0) as ->.
  exists t0. split; [exact Hrun0 | split; [exact Hends|]].
  intros t' Ht' value combine effect Hobeys Hsurely m m' Hmm.
  destruct (Hlayers value combine effect Hobeys Hsurely) as [Hob Hsame]. destruct (Hsame m m' Hmm) as [Hbut Hlast].
  pose proof (Hany t' Ht' value combine _ Hob m') as Horder. split.
  - intros x Hx. rewrite (Hbut x Hx). apply Horder.
  - intros L Ls' Heq a x Hx Hother Ha. rewrite (Hlast L Ls' Heq a x Hx Hother Ha). apply Horder.
Qed.
