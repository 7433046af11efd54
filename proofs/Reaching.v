(** * All executions of a program, symbolically

    For each call, a state in which it is reached: with this the executions of
    two parts of a program can be compared, pair by pair. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Lexicographic Poly Formulas Reduction Linear Symbolic Specification Conditions.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** The shape of the statement, where it has one; what the names of its
    instance are; its time; and all that is known there. *)
Record execution := Execution {
  executed_shape : option shape;
  executed_scope : scope;
  executed_time : list lin;
  executed_state : state
}.

(** The iterator [v] is in the loop. *)
Definition in_loop (c : scope) (x : string) (a : expr) (v : lin) (t : test) (d : positive) (s : state) : state :=
  let (f, s1) := known ((x, v) :: c) true t (stride c a v d s) in assume f s1.

Lemma in_loop_models : forall c e x a lv z t d s v,
  models v s -> agrees e c v -> denotes v lv z -> strided (eval e a) d z -> holds ((x, z) :: e) t ->
  exists w, models (v ++ w) (in_loop c x a lv t d s).
Proof.
  intros c e x a lv z t d s v Hm Hc Hv Hz Ht. unfold in_loop.
  destruct (known ((x, lv) :: c) true t (stride c a lv d s)) as [f s1] eqn:E.
  destruct (stride_models _ _ _ _ _ d _ _ Hm Hc Hv Hz) as [w1 Hm1].
  assert (Hc1 : agrees ((x, z) :: e) ((x, lv) :: c) (v ++ w1)).
  { apply agrees_cons; [apply agrees_more, Hc | apply denotes_more, Hv]. }
  destruct (known_models _ _ _ _ _ _ _ _ E Hc1 Hm1) as (w2 & Hm2 & Hf).
  exists (w1 ++ w2). rewrite app_assoc. apply assume_models; [exact Hm2 | apply Hf, decide_holds, Ht].
Qed.

Section Reaching.
  Variable l : list shape.
  Variable sizes_env : env.
  Variable sizes_scope : scope.

  Definition call_executions (c : scope) (s : state) (f : string) (args hint : list expr) : list execution :=
    match find_shape l f (List.length args) (List.length hint) with
    | None => [Execution None [] [] s]
    | Some h =>
        let (xs, s1) := linear_list c args s in
        let (ys, s2) := linear_list c hint s1 in
        let inner := combine (shape_arguments h) xs ++ combine (shape_hints h) ys ++ sizes_scope in
        let (t, s3) := linear_list inner (shape_time h) s2 in
        [Execution (Some h) inner t s3]
    end.

  Fixpoint executions (c : scope) (s : state) (n : node) : list execution :=
    match n with
    | Call f args hint => call_executions c s f args hint
    | Block ns => flat_map (executions c s) ns
    | If t a b =>
        let (f, s1) := known c true t s in let (f', s1') := known c false t s in
        executions c (assume f s1) a ++ executions c (assume f' s1') b
    | For x a t d b =>
        let (v, s1) := fresh s in executions ((x, v) :: c) (in_loop c x a v t d s1) b
    | Let x a b => let (m, s1) := linear c a s in executions ((x, m) :: c) s1 b
    | Mark _ b => executions c s b
    end.

  (** The execution [r] is, in [v], that of [ev]. *)
  Definition shows (v : list Z) (r : execution) (ev : event) : Prop :=
    models v (executed_state r) /\
    denote_all v (executed_time r) (time_of (poly_of l sizes_env) ev) /\
    executed_shape r = find_shape l (name_of ev) (List.length (arguments_of ev)) (List.length (hint_of ev)) /\
    (forall h, executed_shape r = Some h -> agrees (instance sizes_env h (arguments_of ev) (hint_of ev)) (executed_scope r) v).

  Theorem executions_complete : forall n c s e v ev, reached e n ev ->
    agrees e c v -> agrees sizes_env sizes_scope v -> models v s ->
    exists r w, In r (executions c s n) /\ shows (v ++ w) r ev.
  Proof.
    induction n as [f args hint|ns IH|t a b IHa IHb|x a t d b IHb|x a b IHb|text b IHb] using node_induction;
      intros c s e v ev Hev Hc Hp Hm; cbn [executions]; cbn [reached] in Hev.
    - subst ev. unfold call_executions.
      set (x := map (eval e) args). set (y := map (eval e) hint).
      assert (Hfind : find_shape l f (List.length x) (List.length y) = find_shape l f (List.length args) (List.length hint)).
      { unfold x, y. rewrite !map_length. reflexivity. }
      destruct (find_shape l f (List.length args) (List.length hint)) as [h|] eqn:Hh.
      + destruct (linear_list c args s) as [xs s1] eqn:E1. destruct (linear_list c hint s1) as [ys s2] eqn:E2.
        set (inner := combine (shape_arguments h) xs ++ combine (shape_hints h) ys ++ sizes_scope).
        destruct (linear_list inner (shape_time h) s2) as [u s3] eqn:E3.
        destruct (linear_list_models _ _ _ _ _ _ _ E1 Hc Hm) as (w1 & Hm1 & Hxs).
        destruct (linear_list_models _ _ _ _ _ _ _ E2 (agrees_more _ _ _ w1 Hc) Hm1) as (w2 & Hm2 & Hys).
        assert (Hinner : agrees (instance sizes_env h x y) inner ((v ++ w1) ++ w2)).
        { unfold instance, inner. apply agrees_app; [apply agrees_combine, denote_all_more, Hxs|].
          apply agrees_app; [apply agrees_combine, Hys | do 2 apply agrees_more; exact Hp]. }
        destruct (linear_list_models _ _ _ _ _ _ _ E3 Hinner Hm2) as (w3 & Hm3 & Ht).
        exists (Execution (Some h) inner u s3), (w1 ++ w2 ++ w3). split; [left; reflexivity|].
        rewrite (app_assoc v w1 (w2 ++ w3)), (app_assoc (v ++ w1) w2 w3). unfold shows. cbn.
        split; [exact Hm3|]. split; [|split; [symmetry; exact Hfind|]].
        * rewrite time_instance. unfold at_time. cbn [name_of arguments_of hint_of]. rewrite Hfind. exact Ht.
        * intros h' Hh'. injection Hh' as <-. apply agrees_more, Hinner.
      + exists (Execution None [] [] s), []. split; [left; reflexivity|]. rewrite app_nil_r. unfold shows. cbn.
        split; [exact Hm|]. split; [|split; [symmetry; exact Hfind | discriminate]].
        rewrite time_instance. unfold at_time. cbn [name_of arguments_of hint_of]. rewrite Hfind. constructor.
    - induction IH as [|n ns Hn _ IHns]; [destruct Hev|]. cbn [map any] in Hev. destruct Hev as [Hev | Hev].
      + destruct (Hn _ _ _ _ _ Hev Hc Hp Hm) as (r & w & Hin & Hr). exists r, w.
        split; [apply in_flat_map; exists n; split; [left; reflexivity | exact Hin] | exact Hr].
      + destruct (IHns Hev) as (r & w & Hin & Hr). exists r, w. split; [|exact Hr].
        cbn [flat_map]. apply in_or_app. right. exact Hin.
    - destruct (known c true t s) as [f s1] eqn:E1. destruct (known c false t s) as [f' s1'] eqn:E1'.
      destruct Hev as [[Ht Hev] | [Ht Hev]].
      + destruct (known_models _ _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hf). apply decide_holds in Ht.
        destruct (IHa _ _ _ _ _ Hev (agrees_more _ _ _ w Hc) (agrees_more _ _ _ w Hp) (assume_models _ _ _ Hm1 (Hf Ht)))
          as (r & w2 & Hin & Hr). exists r, (w ++ w2). rewrite app_assoc. split; [apply in_or_app; left; exact Hin | exact Hr].
      + destruct (known_models _ _ _ _ _ _ _ _ E1' Hc Hm) as (w & Hm1 & Hf). apply decide_fails in Ht.
        destruct (IHb _ _ _ _ _ Hev (agrees_more _ _ _ w Hc) (agrees_more _ _ _ w Hp) (assume_models _ _ _ Hm1 (Hf Ht)))
          as (r & w2 & Hin & Hr). exists r, (w ++ w2). rewrite app_assoc. split; [apply in_or_app; right; exact Hin | exact Hr].
    - destruct (fresh s) as [lv s1] eqn:E1. destruct Hev as (z & Hz & Ht & Hev).
      destruct (fresh_models _ _ z _ _ E1 Hm) as [Hm1 Hv].
      pose proof (agrees_more _ _ _ [z] Hc) as Hc1.
      destruct (in_loop_models _ _ x _ _ _ _ _ _ _ Hm1 Hc1 Hv Hz Ht) as [w2 Hm2].
      destruct (IHb _ _ _ _ _ Hev (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w2 Hc1) (denotes_more _ w2 _ _ Hv))
        (agrees_more _ _ _ w2 (agrees_more _ _ _ [z] Hp)) Hm2) as (r & w3 & Hin & Hr).
      exists r, ([z] ++ w2 ++ w3). rewrite !app_assoc in *. auto.
    - destruct (linear c a s) as [m s1] eqn:E1.
      destruct (linear_models _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hd).
      destruct (IHb _ _ _ _ _ Hev (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w Hc) Hd) (agrees_more _ _ _ w Hp) Hm1)
        as (r & w2 & Hin & Hr). exists r, (w ++ w2). rewrite app_assoc. auto.
    - exact (IHb _ _ _ _ _ Hev Hc Hp Hm).
  Qed.

  (** Executions of [a] come before those of [b], in time: one goal for each pair. *)
  Definition pairs_in_time (first : list execution) (second : state -> list execution) : list goal :=
    flat_map (fun r => map (fun q => exclude (not_earlier (executed_time r) (executed_time q)) (executed_state q))
      (second (executed_state r))) first.

  Lemma pairs_in_time_sound : forall first second v r ev w q ev',
    Forall refuted (pairs_in_time first second) ->
    In r first -> shows v r ev -> In q (second (executed_state r)) -> shows (v ++ w) q ev' ->
    sooner (poly_of l sizes_env) ev ev'.
  Proof.
    intros first second v r ev w q ev' H Hr (_ & Ht & _) Hq (Hm' & Ht' & _).
    destruct (lex_lt_dec (time_of (poly_of l sizes_env) ev) (time_of (poly_of l sizes_env) ev')) as [Hlt | Hno]; [exact Hlt|].
    exfalso. rewrite Forall_forall in H.
    assert (Hin : In (exclude (not_earlier (executed_time r) (executed_time q)) (executed_state q)) (pairs_in_time first second)).
    { unfold pairs_in_time. apply in_flat_map. exists r. split; [exact Hr|]. apply in_map_iff. exists q. auto. }
    apply H in Hin. apply (refuted_state _ _ _ Hin Hm').
    exact (not_earlier_true _ _ _ _ _ (denote_all_more _ _ _ _ Ht) Ht' Hno).
  Qed.
End Reaching.
