(** * The walk down a program

    Loops end, calls run only what is specified, and times increase: one goal
    for each call, and few for each loop and block. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Lexicographic Poly Formulas Reduction Linear Symbolic Specification Conditions Reaching.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** What is to be shown of the order, along the tree of the program.
    [AtCall]: at a call, or an empty block.  [Into]: a let or a mark.
    [Either_way]: a conditional.  [Along last keys]: the time goes on with these
    keys, which increase with the iterator; [last] limits the iterator, where
    the test does not show it.  [Around last keys]: the times of an iteration
    lie between the values of these keys and those for the next iteration.
    [Crossed last]: all pairs of calls in different iterations are compared.
    [Numbered]: in the children of a block the time goes on with these keys,
    which increase.  [Parted]: these times lie between the children.
    [Compared]: all pairs of calls in different children are compared. *)
Inductive guide :=
| AtCall
| Into (g : guide)
| Either_way (yes no : guide)
| Along (last : option expr) (keys : list expr) (g : guide)
| Around (last : option expr) (keys : list expr) (g : guide)
| Crossed (last : option expr) (g : guide)
| Numbered (children : list (list expr * guide))
| Parted (cuts : list (list expr)) (children : list guide)
| Compared (children : list guide).

Section Walk.
  Variable l : list shape.
  (** The parameters: their values, and what they are in the goals. *)
  Variable sizes_env : env.
  Variable sizes_scope : scope.

  Let reaching := executions l sizes_scope.

  Definition call_goals (c : scope) (s : state) (known_time : list lin) (bounds : list bound)
      (f : string) (args hint : list expr) : list goal :=
    match find_shape l f (List.length args) (List.length hint) with
    | None => unfit
    | Some h =>
        let (xs, s1) := linear_list c args s in
        let (ys, s2) := linear_list c hint s1 in
        let inner := combine (shape_arguments h) xs ++ combine (shape_hints h) ys ++ sizes_scope in
        let (outside, s3) := known inner false (shape_domain h) s2 in
        let (t, s4) := linear_list inner (shape_time h) s3 in
        [exclude (either (outside :: not_starting known_time t :: map (violated t) bounds)) s4]
    end.

  Fixpoint walk (g : guide) (c : scope) (s : state) (known_time : list lin) (bounds : list bound) (n : node) {struct n}
      : list goal :=
    match n with
    | Call f args hint => match g with AtCall => call_goals c s known_time bounds f args hint | _ => unfit end
    | Block ns =>
        match g with
        | AtCall => match ns with [] => [] | _ => unfit end
        | Numbered gs =>
            (fix each (previous : option (list lin)) (gs : list (list expr * guide)) (ns : list node) (s : state) {struct ns}
                : list goal :=
               match ns, gs with
               | [], [] => []
               | n' :: ns', (keys, g') :: gs' =>
                   let (k, s1) := linear_list c keys s in
                   match previous with None => [] | Some p => [exclude (not_strictly p k) s1] end ++
                   walk g' c s1 (known_time ++ k) bounds n' ++ each (Some k) gs' ns' s1
               | _, _ => unfit
               end) None gs ns s
        | Parted cuts gs =>
            (fix each (low : list lin) (cuts : list (list expr)) (gs : list guide) (ns : list node) (s : state) {struct ns}
                : list goal :=
               match ns, gs with
               | [], [] => []
               | n' :: ns', g' :: gs' =>
                   match cuts with
                   | [] =>
                       match ns' with [] => walk g' c s known_time (From low :: bounds) n' | _ => unfit end
                   | keys :: cuts' =>
                       let (k, s1) := linear_list c keys s in
                       let cut := known_time ++ k in
                       exclude (earlier cut low) s1 ::
                       walk g' c s1 known_time (From low :: Until cut :: bounds) n' ++ each cut cuts' gs' ns' s1
                   end
               | _, _ => unfit
               end) [] cuts gs ns s
        | Compared gs =>
            (fix each (gs : list guide) (ns : list node) {struct ns} : list goal :=
               match ns, gs with
               | [], [] => []
               | n' :: ns', g' :: gs' =>
                   walk g' c s known_time bounds n' ++
                   pairs_in_time (reaching c s n') (fun s' => flat_map (reaching c s') ns') ++ each gs' ns'
               | _, _ => unfit
               end) gs ns
        | _ => unfit
        end
    | If t a b =>
        match g with
        | Either_way yes no =>
            let (f, s1) := known c true t s in
            let (f', s1') := known c false t s in
            walk yes c (assume f s1) known_time bounds a ++ walk no c (assume f' s1') known_time bounds b
        | _ => unfit
        end
    | For x a t d b =>
        let (v, s2) := fresh s in
        let c' := (x, v) :: c in
        let s4 := in_loop c x a v t d s2 in
        match g with
        | Along last keys g' =>
            let (k, s5) := linear_list c' keys s4 in
            let (w, s3') := fresh s2 in
            let (k1, s4') := linear_list c' keys (assume (less v w) s3') in
            let (k2, s5') := linear_list ((x, w) :: c) keys s4' in
            ending c x a t d last s ++ exclude (not_strictly k1 k2) s5' ::
            walk g' c' s5 (known_time ++ k) bounds b
        | Around last keys g' =>
            let next_scope := (x, plus v (number (Z.pos d))) :: c in
            let (k1, s5) := linear_list c' keys s4 in
            let (k2, s6) := linear_list next_scope keys s5 in
            let (w, s3') := fresh s2 in
            let (k1', s4') := linear_list ((x, w) :: c) keys (assume (at_most (plus v (number (Z.pos d))) w) s3') in
            let (k2', s5') := linear_list next_scope keys s4' in
            ending c x a t d last s ++ exclude (earlier k1' k2') s5' ::
            walk g' c' s6 known_time (From (known_time ++ k1) :: Until (known_time ++ k2) :: bounds) b
        | Crossed last g' =>
            let (w, s5) := fresh s4 in
            let s6 := in_loop c x a w t d (assume (less v w) s5) in
            ending c x a t d last s ++
            pairs_in_time (reaching c' s6 b) (fun s' => reaching ((x, w) :: c) s' b) ++
            walk g' c' s4 known_time bounds b
        | _ => unfit
        end
    | Let x a b =>
        match g with
        | Into g' => let (m, s1) := linear c a s in walk g' ((x, m) :: c) s1 known_time bounds b
        | _ => unfit
        end
    | Mark _ b => match g with Into g' => walk g' c s known_time bounds b | _ => unfit end
    end.

  (** ** What the walk shows *)

  Let P := poly_of l sizes_env.

  Definition timely (start : list Z) (limits : list (bool * list Z)) (ev : event) : Prop :=
    scheduled P ev /\ starts_with start (time_of P ev) /\ Forall (kept (time_of P ev)) limits.

  Record fine (e : env) (n : node) (start : list Z) (limits : list (bool * list Z)) : Prop := {
    fine_regular : regular e n;
    fine_ordered : ordered (sooner P) e n;
    fine_timely : forall ev, reached e n ev -> timely start limits ev
  }.

  Lemma call_sound : forall c s known_time bounds f args hint e v start limits,
    Forall refuted (call_goals c s known_time bounds f args hint) ->
    agrees e c v -> agrees sizes_env sizes_scope v -> models v s -> denote_all v known_time start ->
    Forall2 (bound_value v) bounds limits ->
    fine e (Call f args hint) start limits.
  Proof.
    intros c s known_time bounds f args hint e v start limits H Hc Hp Hm Hstart Hlimits.
    unfold call_goals in H.
    destruct (find_shape l f (List.length args) (List.length hint)) as [h|] eqn:Hh; [|destruct (unfit_false H)].
    destruct (linear_list c args s) as [xs s1] eqn:E1. destruct (linear_list c hint s1) as [ys s2] eqn:E2.
    set (inner := combine (shape_arguments h) xs ++ combine (shape_hints h) ys ++ sizes_scope) in H.
    destruct (known inner false (shape_domain h) s2) as [outside s3] eqn:E3.
    destruct (linear_list inner (shape_time h) s3) as [t s4] eqn:E4.
    inversion H as [|? ? Hgoal _]; subst. clear H.
    destruct (linear_list_models _ _ _ _ _ _ _ E1 Hc Hm) as (w1 & Hm1 & Hxs).
    destruct (linear_list_models _ _ _ _ _ _ _ E2 (agrees_more _ _ _ w1 Hc) Hm1) as (w2 & Hm2 & Hys).
    set (x := map (eval e) args) in *. set (y := map (eval e) hint) in *.
    assert (Hinner : agrees (instance sizes_env h x y) inner ((v ++ w1) ++ w2)).
    { unfold instance, inner. apply agrees_app; [apply agrees_combine, denote_all_more, Hxs|].
      apply agrees_app; [apply agrees_combine, Hys | do 2 apply agrees_more; exact Hp]. }
    destruct (known_models _ _ _ _ _ _ _ _ E3 Hinner Hm2) as (w3 & Hm3 & Houtside).
    destruct (linear_list_models _ _ _ _ _ _ _ E4 (agrees_more _ _ _ w3 Hinner) Hm3) as (w4 & Hm4 & Ht).
    set (u := (((v ++ w1) ++ w2) ++ w3) ++ w4) in *.
    set (time := map (eval (instance sizes_env h x y)) (shape_time h)) in *.
    pose proof (refuted_state _ _ _ Hgoal Hm4) as Hnot.
    assert (Hstart' : denote_all u known_time start) by (do 4 apply denote_all_more; exact Hstart).
    assert (Hlimits' : Forall2 (bound_value u) bounds limits) by (do 4 apply bounds_more; exact Hlimits).
    assert (Hfind : find_shape l f (List.length x) (List.length y) = Some h).
    { unfold x, y. rewrite !map_length. exact Hh. }
    assert (Hdomain : decide (instance sizes_env h x y) (shape_domain h) = true).
    { destruct (decide (instance sizes_env h x y) (shape_domain h)) eqn:Hd; [reflexivity|].
      exfalso. apply Hnot, either_true. left. apply true_at_more, Houtside. reflexivity. }
    assert (Hscheduled : scheduled P (Event f x y)).
    { apply scheduled_instance. unfold has_instance. cbn [name_of arguments_of hint_of]. rewrite Hfind. exact Hdomain. }
    assert (Htime : time_of P (Event f x y) = time).
    { unfold P. rewrite time_instance. unfold at_time. cbn [name_of arguments_of hint_of].
      rewrite Hfind. reflexivity. }
    constructor; [exact I | exact I |]. intros ev Hev. cbn [reached] in Hev. subst ev. fold x y.
    split; [exact Hscheduled|]. rewrite Htime. split.
    - destruct (starts_with_dec start time) as [Hs | Hs]; [exact Hs|]. exfalso. apply Hnot, either_true.
      right. left. exact (not_starting_true _ _ _ _ _ Hstart' Ht Hs).
    - assert (Hsome : Exists (true_at u) (map (violated t) bounds) \/ Forall (kept time) limits).
      { clear -Ht Hlimits'. induction Hlimits' as [|b z bs zs Hb _ IH]; [right; constructor|]. cbn [map].
        destruct (kept_dec time z) as [Hz | Hz].
        - destruct IH as [IH | IH]; [left; right; exact IH | right; constructor; assumption].
        - left. left. exact (violated_true _ _ _ _ _ Ht Hb Hz). }
      destruct Hsome as [Hsome | Hall]; [|exact Hall]. exfalso. apply Hnot, either_true. right. right. exact Hsome.
  Qed.

  Lemma timely_front : forall a b limits ev, timely (a ++ b) limits ev -> timely a limits ev.
  Proof. intros a b limits ev (H1 & H2 & H3). split; [exact H1 | split; [exact (starts_with_front _ _ _ H2) | exact H3]]. Qed.

  Lemma loop_ordered_by_keys : forall e x a t d b start limits (key : Z -> list Z),
    (forall v w, v < w -> strictly (key v) (key w)) ->
    (forall v, strided (eval e a) d v -> holds ((x, v) :: e) t -> fine ((x, v) :: e) b (start ++ key v) limits) ->
    ordered (sooner P) e (For x a t d b).
  Proof.
    intros e x a t d b start limits key Hkey Hbody. split; [intros v Hv Ht; apply (Hbody v Hv Ht)|].
    intros v w Hv Htv Hw Htw Hlt ev ev' Hev Hev'.
    destruct (fine_timely _ _ _ _ (Hbody v Hv Htv) ev Hev) as (_ & H1 & _).
    destruct (fine_timely _ _ _ _ (Hbody w Hw Htw) ev' Hev') as (_ & H2 & _).
    exact (strictly_before start _ _ _ _ (Hkey v w Hlt) H1 H2).
  Qed.

  Lemma not_before_common : forall start a b, ~ lex_lt a b -> ~ lex_lt (start ++ a) (start ++ b).
  Proof. induction start as [|z start IH]; intros a b H; cbn [app lex_lt]; [exact H|]. intros [Hlt | [_ Hlt]]; [lia | exact (IH a b H Hlt)]. Qed.

  Lemma strided_gap : forall a d v w, strided a d v -> strided a d w -> v < w -> v + Z.pos d <= w.
  Proof.
    intros a d v w Hv Hw Hlt. apply strided_steps in Hv as (j & Hj & ->). apply strided_steps in Hw as (k & Hk & ->).
    pose proof (Pos2Z.is_pos d) as Hd. assert (j + 1 <= k) by nia. nia.
  Qed.

  Lemma lex_lt_cut : forall t u cut, lex_lt t cut -> ~ lex_lt u cut -> lex_lt t u.
  Proof.
    intros t u cut Ht Hu. destruct (lex_lt_total cut u) as [H | [<- | H]]; [|exact Ht | contradiction].
    exact (lex_lt_transitive _ _ _ Ht H).
  Qed.

  Theorem walk_sound : forall n g c s known_time bounds e v start limits,
    Forall refuted (walk g c s known_time bounds n) ->
    agrees e c v -> agrees sizes_env sizes_scope v -> models v s -> denote_all v known_time start ->
    Forall2 (bound_value v) bounds limits ->
    fine e n start limits.
  Proof.
    induction n as [f args hint|ns IH|t a b IHa IHb|x a t d b IHb|x a b IHb|text b IHb] using node_induction;
      intros g c s known_time bounds e v start limits H Hc Hp Hm Hstart Hlimits; cbn [walk] in H.
    - destruct g; try (destruct (unfit_false H)). eapply call_sound; eauto.
    - destruct g as [|?|? ?|? ? ?|? ? ?|? ?|gs|cuts gs|gs]; try (destruct (unfit_false H)).
      { destruct ns; [|destruct (unfit_false H)]. constructor; [exact I | exact I | intros ev []]. }
      + (* children by their keys *)
        match type of H with Forall refuted (?each None gs ns s) => set (go := each) in H end.
        assert (Hgo : forall ns, Forall (fun n => forall g c s known_time bounds e v start limits,
                  Forall refuted (walk g c s known_time bounds n) ->
                  agrees e c v -> agrees sizes_env sizes_scope v -> models v s -> denote_all v known_time start ->
                  Forall2 (bound_value v) bounds limits -> fine e n start limits) ns ->
                forall previous gs s v, Forall refuted (go previous gs ns s) ->
                agrees e c v -> agrees sizes_env sizes_scope v -> models v s -> denote_all v known_time start ->
                Forall2 (bound_value v) bounds limits ->
                forall before, (forall p, previous = Some p -> denote_all v p before) ->
                fine e (Block ns) start limits /\
                (forall p, previous = Some p -> forall ev, any (map (fun n => reached e n ev) ns) ->
                   exists k, strictly before k /\ starts_with (start ++ k) (time_of P ev))).
        { clear IH H Hm Hstart Hlimits Hc Hp v s ns gs. induction 1 as [|n ns Hn _ IHns];
            intros previous [|[keys g] gs] s v H Hc Hp Hm Hstart Hlimits before Hbefore; cbn [go] in H;
            try (destruct (unfit_false H)).
          { split; [constructor; [exact I | exact I | intros ev []] | intros p _ ev []]. }
          fold go in H. destruct (linear_list c keys s) as [k s1] eqn:E1.
          apply Forall_app in H as [Hup H]. apply Forall_app in H as [Hone Hrest].
          destruct (linear_list_models _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hk).
          set (key := map (eval e) keys) in *.
          assert (Hc1 : agrees e c (v ++ w)) by (apply agrees_more, Hc).
          assert (Hp1 : agrees sizes_env sizes_scope (v ++ w)) by (apply agrees_more, Hp).
          assert (Hstart1 : denote_all (v ++ w) known_time start) by (apply denote_all_more, Hstart).
          assert (Hlimits1 : Forall2 (bound_value (v ++ w)) bounds limits) by (apply bounds_more, Hlimits).
          pose proof (Hn _ _ _ _ _ _ _ (start ++ key) _ Hone Hc1 Hp1 Hm1 (denote_all_app _ _ _ _ _ Hstart1 Hk) Hlimits1)
            as Hfirst.
          destruct (IHns _ _ _ _ Hrest Hc1 Hp1 Hm1 Hstart1 Hlimits1 key) as [Hothers Hlater].
          { intros p Hpk. injection Hpk as <-. exact Hk. }
          specialize (Hlater k eq_refl).
          assert (Hafter : forall p, previous = Some p -> strictly before key).
          { intros p ->. inversion Hup as [|? ? Hgoal _]; subst.
            destruct (strictly_dec before key) as [Hs | Hs]; [exact Hs|]. exfalso.
            apply (refuted_state _ _ _ Hgoal Hm1).
            exact (not_strictly_true _ _ _ _ _ (denote_all_more _ _ _ _ (Hbefore p eq_refl)) Hk Hs). }
          split; [constructor|].
          - cbn [regular map]. apply all_cons. split; [apply Hfirst | apply Hothers].
          - cbn [ordered]. split; [apply Hfirst|]. split; [|apply Hothers].
            intros ev ev' Hev Hev'. destruct (Hlater ev' Hev') as (k' & Hk' & Hs').
            destruct (fine_timely _ _ _ _ Hfirst ev Hev) as (_ & Hs & _).
            exact (strictly_before start _ _ _ _ Hk' Hs Hs').
          - cbn [reached map any]. intros ev [Hev | Hev].
            + apply (timely_front start key). exact (fine_timely _ _ _ _ Hfirst ev Hev).
            + exact (fine_timely _ _ _ _ Hothers ev Hev).
          - intros p Hpk ev Hev. specialize (Hafter p Hpk). cbn [map any] in Hev. destruct Hev as [Hev | Hev].
            + exists key. split; [exact Hafter|]. apply (fine_timely _ _ _ _ Hfirst ev Hev).
            + destruct (Hlater ev Hev) as (k' & Hk' & Hs'). exists k'. split; [|exact Hs'].
              exact (strictly_trans _ _ _ Hafter Hk'). }
        apply (Hgo ns IH None gs s v H Hc Hp Hm Hstart Hlimits []). intros p Hpk. discriminate.
      + (* children between cuts *)
        match type of H with Forall refuted (?each [] cuts gs ns s) => set (go := each) in H end.
        assert (Hgo : forall ns, Forall (fun n => forall g c s known_time bounds e v start limits,
                  Forall refuted (walk g c s known_time bounds n) ->
                  agrees e c v -> agrees sizes_env sizes_scope v -> models v s -> denote_all v known_time start ->
                  Forall2 (bound_value v) bounds limits -> fine e n start limits) ns ->
                forall low cuts gs s v before, Forall refuted (go low cuts gs ns s) ->
                agrees e c v -> agrees sizes_env sizes_scope v -> models v s -> denote_all v known_time start ->
                Forall2 (bound_value v) bounds limits -> denote_all v low before ->
                fine e (Block ns) start limits /\
                (forall ev, any (map (fun n => reached e n ev) ns) -> ~ lex_lt (time_of P ev) before)).
        { clear IH H Hm Hstart Hlimits Hc Hp v s ns gs cuts. induction 1 as [|n ns Hn _ IHns];
            intros low cuts [|g gs] s v before H Hc Hp Hm Hstart Hlimits Hlow; cbn [go] in H;
            try (destruct (unfit_false H)).
          { split; [constructor; [exact I | exact I | intros ev []] | intros ev []]. }
          destruct cuts as [|keys cuts].
          { destruct ns; [|destruct (unfit_false H)].
            pose proof (Hn _ _ _ _ _ _ _ start ((true, before) :: limits) H Hc Hp Hm Hstart) as Hfirst.
            assert (Hb : Forall2 (bound_value v) (From low :: bounds) ((true, before) :: limits)).
            { constructor; [split; [reflexivity | exact Hlow] | exact Hlimits]. }
            specialize (Hfirst Hb). split; [constructor|].
            - cbn. apply Hfirst.
            - cbn [ordered]. split; [apply Hfirst | split; [intros ? ? ? [] | exact I]].
            - cbn [reached map any]. intros ev [Hev | []].
              destruct (fine_timely _ _ _ _ Hfirst ev Hev) as (H1 & H2 & H3). inversion H3; subst. split; auto.
            - cbn [map any]. intros ev [Hev | []].
              destruct (fine_timely _ _ _ _ Hfirst ev Hev) as (_ & _ & H3). inversion H3; subst. assumption. }
          fold go in H. destruct (linear_list c keys s) as [k s1] eqn:E1.
          inversion H as [|? ? Hup H']; subst. apply Forall_app in H' as [Hone Hrest]. clear H.
          destruct (linear_list_models _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hk).
          set (key := map (eval e) keys) in *.
          assert (Hc1 : agrees e c (v ++ w)) by (apply agrees_more, Hc).
          assert (Hp1 : agrees sizes_env sizes_scope (v ++ w)) by (apply agrees_more, Hp).
          assert (Hstart1 : denote_all (v ++ w) known_time start) by (apply denote_all_more, Hstart).
          assert (Hlimits1 : Forall2 (bound_value (v ++ w)) bounds limits) by (apply bounds_more, Hlimits).
          assert (Hlow1 : denote_all (v ++ w) low before) by (apply denote_all_more, Hlow).
          pose proof (denote_all_app _ _ _ _ _ Hstart1 Hk) as Hcut.
          assert (Hb : Forall2 (bound_value (v ++ w)) (From low :: Until (known_time ++ k) :: bounds)
                         ((true, before) :: (false, start ++ key) :: limits)).
          { constructor; [split; [reflexivity | exact Hlow1]|].
            constructor; [split; [reflexivity | exact Hcut] | exact Hlimits1]. }
          pose proof (Hn _ _ _ _ _ _ _ _ _ Hone Hc1 Hp1 Hm1 Hstart1 Hb) as Hfirst.
          destruct (IHns _ _ _ _ _ _ Hrest Hc1 Hp1 Hm1 Hstart1 Hlimits1 Hcut) as [Hothers Hlater].
          assert (Hgrow : ~ lex_lt (start ++ key) before).
          { intros Hlt. apply (refuted_state _ _ _ Hup Hm1). exact (earlier_true _ _ _ _ _ Hcut Hlow1 Hlt). }
          split; [constructor|].
          - cbn [regular map]. apply all_cons. split; [apply Hfirst | apply Hothers].
          - cbn [ordered]. split; [apply Hfirst|]. split; [|apply Hothers]. intros ev ev' Hev Hev'.
            destruct (fine_timely _ _ _ _ Hfirst ev Hev) as (_ & _ & H3).
            inversion H3 as [|? ? _ H4]; subst. inversion H4 as [|? ? Hbefore _]; subst.
            exact (lex_lt_cut _ _ _ Hbefore (Hlater ev' Hev')).
          - cbn [reached map any]. intros ev [Hev | Hev].
            + destruct (fine_timely _ _ _ _ Hfirst ev Hev) as (H1 & H2 & H3).
              inversion H3 as [|? ? _ H4]; subst. inversion H4; subst. split; auto.
            + exact (fine_timely _ _ _ _ Hothers ev Hev).
          - cbn [map any]. intros ev [Hev | Hev].
            + destruct (fine_timely _ _ _ _ Hfirst ev Hev) as (_ & _ & H3). inversion H3; subst. assumption.
            + exact (not_before_trans _ _ _ Hgrow (Hlater ev Hev)). }
        apply (Hgo ns IH [] cuts gs s v [] H Hc Hp Hm Hstart Hlimits). constructor.
      + (* all pairs *)
        match type of H with Forall refuted (?each gs ns) => set (go := each) in H end.
        revert gs H. induction IH as [|n ns Hn _ IHns]; intros [|g gs] H; cbn [go] in H; try (destruct (unfit_false H)).
        { constructor; [exact I | exact I | intros ev []]. }
        fold go in H. apply Forall_app in H as [Hone H]. apply Forall_app in H as [Hpairs Hrest].
        pose proof (Hn _ _ _ _ _ _ _ _ _ Hone Hc Hp Hm Hstart Hlimits) as Hfirst. specialize (IHns gs Hrest).
        constructor.
        * cbn [regular map]. apply all_cons. split; [apply Hfirst | apply IHns].
        * cbn [ordered]. split; [apply Hfirst|]. split; [|apply IHns]. intros ev ev' Hev Hev'.
          destruct (executions_complete l sizes_env sizes_scope _ _ _ _ _ _ Hev Hc Hp Hm) as (r & w & Hr & Hshow).
          destruct (executions_complete l sizes_env sizes_scope (Block ns) _ _ _ _ _ Hev' (agrees_more _ _ _ w Hc)
            (agrees_more _ _ _ w Hp) (proj1 Hshow)) as (q & w' & Hq & Hshow').
          exact (pairs_in_time_sound _ _ _ _ _ _ _ _ _ _ Hpairs Hr Hshow Hq Hshow').
        * cbn [reached map any]. intros ev [Hev | Hev].
          -- exact (fine_timely _ _ _ _ Hfirst ev Hev).
          -- exact (fine_timely _ _ _ _ IHns ev Hev).
    - destruct g as [|?|yes no|? ? ?|? ? ?|? ?|?|? ?|?]; try (destruct (unfit_false H)).
      destruct (known c true t s) as [f s1] eqn:E1. destruct (known c false t s) as [f' s1'] eqn:E1'.
      apply Forall_app in H as [H1 H2].
      destruct (known_models _ _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hf).
      destruct (known_models _ _ _ _ _ _ _ _ E1' Hc Hm) as (w' & Hm1' & Hf').
      assert (Hyes : holds e t -> fine e a start limits).
      { intros Ht. apply decide_holds in Ht. pose proof (assume_models _ _ _ Hm1 (Hf Ht)) as Hm2.
        exact (IHa _ _ _ _ _ _ _ _ _ H1 (agrees_more _ _ _ _ Hc) (agrees_more _ _ _ _ Hp) Hm2
          (denote_all_more _ _ _ _ Hstart) (bounds_more _ _ _ _ Hlimits)). }
      assert (Hno : ~ holds e t -> fine e b start limits).
      { intros Ht. apply decide_fails in Ht. pose proof (assume_models _ _ _ Hm1' (Hf' Ht)) as Hm2.
        exact (IHb _ _ _ _ _ _ _ _ _ H2 (agrees_more _ _ _ _ Hc) (agrees_more _ _ _ _ Hp) Hm2
          (denote_all_more _ _ _ _ Hstart) (bounds_more _ _ _ _ Hlimits)). }
      constructor.
      + split; intros Ht; [apply Hyes, Ht | apply Hno, Ht].
      + split; intros Ht; [apply Hyes, Ht | apply Hno, Ht].
      + intros ev [[Ht Hev] | [Ht Hev]]; [exact (fine_timely _ _ _ _ (Hyes Ht) ev Hev) | exact (fine_timely _ _ _ _ (Hno Ht) ev Hev)].
    - destruct (fresh s) as [lv s2] eqn:E2.
      (* what holds in one iteration *)
      set (s4 := in_loop c x a lv t d s2) in *.
      assert (Hinside : forall y, strided (eval e a) d y -> holds ((x, y) :: e) t -> exists w,
                models (v ++ w) s4 /\ agrees ((x, y) :: e) ((x, lv) :: c) (v ++ w) /\ denotes (v ++ w) lv y).
      { intros y Hy Ht. destruct (fresh_models _ _ y _ _ E2 Hm) as [Hm2 Hv].
        destruct (in_loop_models _ _ x _ _ _ _ _ _ _ Hm2 (agrees_more _ _ _ [y] Hc) Hv Hy Ht) as [w3 Hm3].
        exists ([y] ++ w3). rewrite app_assoc. split; [exact Hm3|]. pose proof (denotes_more _ w3 _ _ Hv) as Hv3.
        split; [apply agrees_cons; [do 2 apply agrees_more; exact Hc | exact Hv3] | exact Hv3]. }
      destruct g as [|?|? ?|last keys g|last keys g|last g|?|? ?|?]; try (destruct (unfit_false H)).
      + destruct (linear_list ((x, lv) :: c) keys s4) as [k s5] eqn:E5.
        destruct (fresh s2) as [lw s3'] eqn:E3'.
        destruct (linear_list ((x, lv) :: c) keys (assume (less lv lw) s3')) as [k1 s4'] eqn:E4'.
        destruct (linear_list ((x, lw) :: c) keys s4') as [k2 s5'] eqn:E5'.
        apply Forall_app in H as [Hend H]. inversion H as [|? ? Hup Hbody]; subst.
        destruct (ending_sound _ _ _ _ _ _ _ _ _ Hend Hc Hm) as [Hdown Hlast].
        set (key := fun y => map (eval ((x, y) :: e)) keys).
        assert (Hkey : forall y z, y < z -> strictly (key y) (key z)).
        { intros y z Hlt. destruct (strictly_dec (key y) (key z)) as [Hs | Hs]; [exact Hs|]. exfalso.
          destruct (fresh_models _ _ y _ _ E2 Hm) as [Hm2 Hv]. destruct (fresh_models _ _ z _ _ E3' Hm2) as [Hm3 Hw].
          pose proof (denotes_more _ [z] _ _ Hv) as Hv2.
          pose proof (assume_models _ _ _ Hm3 (less_true _ _ _ _ _ Hv2 Hw Hlt)) as Hm4.
          assert (Hc3 : agrees e c ((v ++ [y]) ++ [z])) by (do 2 apply agrees_more; exact Hc).
          destruct (linear_list_models _ _ _ _ _ _ _ E4' (agrees_cons _ _ _ x _ _ Hc3 Hv2) Hm4) as (w5 & Hm5 & Hk1).
          destruct (linear_list_models _ _ _ _ _ _ _ E5'
            (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w5 Hc3) (denotes_more _ w5 _ _ Hw)) Hm5) as (w6 & Hm6 & Hk2).
          apply (refuted_state _ _ _ Hup Hm6).
          exact (not_strictly_true _ _ _ _ _ (denote_all_more _ w6 _ _ Hk1) Hk2 Hs). }
        assert (Hiteration : forall y, strided (eval e a) d y -> holds ((x, y) :: e) t ->
                  fine ((x, y) :: e) b (start ++ key y) limits).
        { intros y Hy Ht. destruct (Hinside y Hy Ht) as (w & Hm4 & Hc4 & _).
          destruct (linear_list_models _ _ _ _ _ _ _ E5 Hc4 Hm4) as (w5 & Hm5 & Hk).
          apply (IHb _ _ _ _ _ _ _ _ _ Hbody (agrees_more _ _ _ w5 Hc4)
            (agrees_more _ _ _ w5 (agrees_more _ _ _ w Hp)) Hm5).
          - apply denote_all_app; [do 2 apply denote_all_more; exact Hstart | exact Hk].
          - do 2 apply bounds_more. exact Hlimits. }
        constructor.
        * split; [exact Hdown | split; [exact Hlast|]]. intros y Hy Ht. apply (Hiteration y Hy Ht).
        * exact (loop_ordered_by_keys _ _ _ _ _ _ _ _ _ Hkey Hiteration).
        * intros ev (y & Hy & Ht & Hev). apply (timely_front start (key y)).
          exact (fine_timely _ _ _ _ (Hiteration y Hy Ht) ev Hev).
      + set (step := plus lv (number (Z.pos d))) in *.
        destruct (linear_list ((x, lv) :: c) keys s4) as [k1 s5] eqn:E5.
        destruct (linear_list ((x, step) :: c) keys s5) as [k2 s6] eqn:E6.
        destruct (fresh s2) as [lw s3'] eqn:E3'.
        destruct (linear_list ((x, lw) :: c) keys (assume (at_most step lw) s3')) as [k1' s4'] eqn:E4'.
        destruct (linear_list ((x, step) :: c) keys s4') as [k2' s5'] eqn:E5'.
        apply Forall_app in H as [Hend H]. inversion H as [|? ? Hup Hbody]; subst.
        destruct (ending_sound _ _ _ _ _ _ _ _ _ Hend Hc Hm) as [Hdown Hlast].
        set (key := fun y => map (eval ((x, y) :: e)) keys).
        assert (Hkey : forall y z, y + Z.pos d <= z -> ~ lex_lt (key z) (key (y + Z.pos d))).
        { intros y z Hle Hlt. destruct (fresh_models _ _ y _ _ E2 Hm) as [Hm2 Hv].
          destruct (fresh_models _ _ z _ _ E3' Hm2) as [Hm3 Hw].
          assert (Hstep : denotes ((v ++ [y]) ++ [z]) step (y + Z.pos d)).
          { apply denotes_plus; [apply denotes_more, Hv | apply denotes_number]. }
          pose proof (assume_models _ _ _ Hm3 (at_most_true _ _ _ _ _ Hstep Hw Hle)) as Hm4.
          assert (Hc3 : agrees e c ((v ++ [y]) ++ [z])) by (do 2 apply agrees_more; exact Hc).
          destruct (linear_list_models _ _ _ _ _ _ _ E4' (agrees_cons _ _ _ x _ _ Hc3 Hw) Hm4) as (w5 & Hm5 & Hk1).
          destruct (linear_list_models _ _ _ _ _ _ _ E5'
            (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w5 Hc3) (denotes_more _ w5 _ _ Hstep)) Hm5) as (w6 & Hm6 & Hk2).
          apply (refuted_state _ _ _ Hup Hm6). exact (earlier_true _ _ _ _ _ (denote_all_more _ w6 _ _ Hk1) Hk2 Hlt). }
        assert (Hiteration : forall y, strided (eval e a) d y -> holds ((x, y) :: e) t ->
                  fine ((x, y) :: e) b start ((true, start ++ key y) :: (false, start ++ key (y + Z.pos d)) :: limits)).
        { intros y Hy Ht. destruct (Hinside y Hy Ht) as (w & Hm4 & Hc4 & Hv4).
          destruct (linear_list_models _ _ _ _ _ _ _ E5 Hc4 Hm4) as (w5 & Hm5 & Hk1).
          assert (Hc5 : agrees ((x, y + Z.pos d) :: e) ((x, step) :: c) ((v ++ w) ++ w5)).
          { apply agrees_cons; [do 2 apply agrees_more; exact Hc|].
            apply denotes_plus; [apply denotes_more, Hv4 | apply denotes_number]. }
          destruct (linear_list_models _ _ _ _ _ _ _ E6 Hc5 Hm5) as (w6 & Hm6 & Hk2).
          assert (Hstart6 : denote_all (((v ++ w) ++ w5) ++ w6) known_time start) by (do 3 apply denote_all_more; exact Hstart).
          apply (IHb _ _ _ _ _ _ _ _ _ Hbody (agrees_more _ _ _ w6 (agrees_more _ _ _ w5 Hc4))
            (agrees_more _ _ _ w6 (agrees_more _ _ _ w5 (agrees_more _ _ _ w Hp))) Hm6 Hstart6).
          constructor; [|constructor; [|do 3 apply bounds_more; exact Hlimits]]; (split; [reflexivity|]); cbn [snd];
            (apply denote_all_app; [exact Hstart6|]).
          - apply denote_all_more. exact Hk1.
          - exact Hk2. }
        constructor.
        * split; [exact Hdown | split; [exact Hlast|]]. intros y Hy Ht. apply (Hiteration y Hy Ht).
        * split; [intros y Hy Ht; apply (Hiteration y Hy Ht)|].
          intros y z Hy Hty Hz Htz Hlt ev ev' Hev Hev'.
          destruct (fine_timely _ _ _ _ (Hiteration y Hy Hty) ev Hev) as (_ & _ & H1).
          destruct (fine_timely _ _ _ _ (Hiteration z Hz Htz) ev' Hev') as (_ & _ & H2).
          inversion H1 as [|? ? _ H3]; subst. inversion H3 as [|? ? Hbefore _]; subst.
          inversion H2 as [|? ? Hafter _]; subst. unfold kept in *. cbn [fst snd] in *.
          apply (lex_lt_cut _ _ _ Hbefore). refine (not_before_trans _ _ _ _ Hafter).
          apply not_before_common, Hkey. exact (strided_gap _ _ _ _ Hy Hz Hlt).
        * intros ev (y & Hy & Ht & Hev). destruct (fine_timely _ _ _ _ (Hiteration y Hy Ht) ev Hev) as (H1 & H2 & H3).
          inversion H3 as [|? ? _ H4]; subst. inversion H4; subst. split; auto.
      + destruct (fresh s4) as [lw s5] eqn:E5.
        apply Forall_app in H as [Hend H]. apply Forall_app in H as [Hpairs Hbody].
        destruct (ending_sound _ _ _ _ _ _ _ _ _ Hend Hc Hm) as [Hdown Hlast].
        assert (Hiteration : forall y, strided (eval e a) d y -> holds ((x, y) :: e) t -> fine ((x, y) :: e) b start limits).
        { intros y Hy Ht. destruct (Hinside y Hy Ht) as (w & Hm4 & Hc4 & _).
          exact (IHb _ _ _ _ _ _ _ _ _ Hbody Hc4 (agrees_more _ _ _ w Hp) Hm4
            (denote_all_more _ w _ _ Hstart) (bounds_more _ w _ _ Hlimits)). }
        constructor.
        * split; [exact Hdown | split; [exact Hlast|]]. intros y Hy Ht. apply (Hiteration y Hy Ht).
        * split; [intros y Hy Ht; apply (Hiteration y Hy Ht)|].
          intros y z Hy Hty Hz Htz Hlt ev ev' Hev Hev'. destruct (Hinside y Hy Hty) as (w & Hm4 & Hc4 & Hv4).
          destruct (fresh_models _ _ z _ _ E5 Hm4) as [Hm5 Hw].
          pose proof (assume_models _ _ _ Hm5 (less_true _ _ _ _ _ (denotes_more _ [z] _ _ Hv4) Hw Hlt)) as Hm5'.
          assert (Hc5 : agrees e c ((v ++ w) ++ [z])) by (do 2 apply agrees_more; exact Hc).
          destruct (in_loop_models _ _ x _ _ _ _ _ _ _ Hm5' Hc5 Hw Hz Htz) as [w6 Hm6].
          set (v6 := ((v ++ w) ++ [z]) ++ w6) in *.
          assert (Hc6 : agrees ((x, y) :: e) ((x, lv) :: c) v6) by (do 2 apply agrees_more; exact Hc4).
          assert (Hc6' : agrees ((x, z) :: e) ((x, lw) :: c) v6).
          { apply agrees_cons; [apply agrees_more, Hc5 | apply denotes_more, Hw]. }
          assert (Hp6 : agrees sizes_env sizes_scope v6) by (do 3 apply agrees_more; exact Hp).
          destruct (executions_complete l sizes_env sizes_scope _ _ _ _ _ _ Hev Hc6 Hp6 Hm6) as (r & w7 & Hr & Hshow).
          destruct (executions_complete l sizes_env sizes_scope _ _ _ _ _ _ Hev' (agrees_more _ _ _ w7 Hc6')
            (agrees_more _ _ _ w7 Hp6) (proj1 Hshow)) as (q & w8 & Hq & Hshow').
          exact (pairs_in_time_sound _ _ _ _ _ _ _ _ _ _ Hpairs Hr Hshow Hq Hshow').
        * intros ev (y & Hy & Ht & Hev). exact (fine_timely _ _ _ _ (Hiteration y Hy Ht) ev Hev).
    - destruct g as [|g|? ?|? ? ?|? ? ?|? ?|?|? ?|?]; try (destruct (unfit_false H)).
      destruct (linear c a s) as [m s1] eqn:E1.
      destruct (linear_models _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hd).
      pose proof (IHb _ _ _ _ _ _ _ _ _ H (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w Hc) Hd)
        (agrees_more _ _ _ w Hp) Hm1 (denote_all_more _ w _ _ Hstart) (bounds_more _ w _ _ Hlimits)) as [H1 H2 H3].
      constructor; assumption.
    - destruct g as [|g|? ?|? ? ?|? ? ?|? ?|?|? ?|?]; try (destruct (unfit_false H)).
      destruct (IHb _ _ _ _ _ _ _ _ _ H Hc Hp Hm Hstart Hlimits) as [H1 H2 H3]. constructor; assumption.
  Qed.
End Walk.
