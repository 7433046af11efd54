(** * A checker for programs and transformations

    [check G n how certificates] computes, from a specification, a program, and
    proposals how to see that the one runs the other, a list of goals, and
    checks a certificate for each.  If it says [true], the program implements
    the specification, for all values of the parameters ([check_implements]).
    [check_change] does the same for a whole transformation: if it says [true],
    both programs leave the same memory ([check_same_memory]).

    What has to be read to know what is claimed: [specification] and its
    meaning [meant] (Specification.v), [change] and [memory_uses] (here), and
    what [Loop.v], [Poly.v] and [Transformation.v] define.  Guides, covers,
    ties and certificates cannot make a wrong answer right. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Lexicographic Poly Formulas Reduction Ordering Memory Transformation Legality.
From Loopwright Require Import Linear Symbolic Specification Conditions Walk Coverage.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** Certificates for all goals *)

Fixpoint refutes_all (cs : list certificate) (gs : list goal) : bool :=
  match cs, gs with
  | [], [] => true
  | c :: cs', g :: gs' => refutes c g && refutes_all cs' gs'
  | _, _ => false
  end.

Lemma refutes_all_sound : forall cs gs, refutes_all cs gs = true -> Forall refuted gs.
Proof.
  induction cs as [|c cs IH]; intros [|g gs] H; cbn [refutes_all] in H; try discriminate; constructor.
  - apply andb_prop in H as [H _]. exact (refutes_sound c g H).
  - apply andb_prop in H as [_ H]. exact (IH gs H).
Qed.

(** ** Parameters *)

Definition beginning (G : specification) : scope * state :=
  let (ps, s0) := fresh_list (sizes G) (State 0 [] []) in
  let c := combine (sizes G) ps in
  let (f, s1) := known c true (assumption G) s0 in
  (c, assume f s1).

Lemma beginning_models : forall G p c s, beginning G = (c, s) -> context (meant G) p ->
  exists v, models v s /\ agrees (environment (meant G) p) c v.
Proof.
  intros G p c s H [Hlen Hp]. unfold beginning in H.
  destruct (fresh_list (sizes G) (State 0 [] [])) as [ps s0] eqn:E1.
  destruct (known (combine (sizes G) ps) true (assumption G) s0) as [f s1] eqn:E2. injection H as <- <-.
  assert (Hm : models [] (State 0 [] [])) by (constructor; [reflexivity | constructor | constructor]).
  destruct (fresh_list_models _ _ _ _ _ p E1 Hm Hlen) as (w1 & Hm1 & Hps).
  pose proof (agrees_combine _ (sizes G) _ _ Hps) as Hc.
  destruct (known_models _ _ _ _ _ _ _ _ E2 Hc Hm1) as (w2 & Hm2 & Hf).
  exists (([] ++ w1) ++ w2). split; [exact (assume_models _ _ _ Hm2 (Hf Hp)) | apply agrees_more, Hc].
Qed.

(** ** Times that tell instances apart

    Where the schedule gives several instances the same time, ties are broken by
    further places: running by strictly increasing longer times is running in
    the order of the schedule, and nothing twice. *)

Definition with_time (h : shape) (t : list expr) : shape :=
  Shape (shape_name h) (shape_arguments h) (shape_hints h) (shape_domain h) t.

Fixpoint retimed (f : shape -> list expr -> list expr) (hs : list shape) (ts : list (list expr)) : list shape :=
  match hs, ts with
  | h :: hs', t :: ts' => with_time h (f h t) :: retimed f hs' ts'
  | _, _ => hs
  end.

Definition untied : list shape -> list (list expr) -> list shape := retimed (fun h t => shape_time h ++ t).

(** The same statements, with other times. *)
Definition alike (R : list expr -> list expr -> Prop) (h h' : shape) : Prop :=
  exists t, h' = with_time h t /\ R (shape_time h) t.

Lemma find_alike : forall R hs hs', Forall2 (alike R) hs hs' -> forall f n m,
  (find_shape hs f n m = None /\ find_shape hs' f n m = None) \/
  exists h h', find_shape hs f n m = Some h /\ find_shape hs' f n m = Some h' /\ alike R h h'.
Proof.
  intros R hs hs' H f n m. induction H as [|h h' hs hs' (t & -> & Ht) _ IH]; [left; auto|].
  cbn [find_shape with_time shape_name shape_arguments shape_hints].
  destruct (String.eqb f (shape_name h) && Nat.eqb n (List.length (shape_arguments h)) &&
            Nat.eqb m (List.length (shape_hints h))); [|exact IH].
  right. exists h, (with_time h t). split; [reflexivity | split; [reflexivity|]]. exists t. auto.
Qed.

Lemma scheduled_alike : forall R hs hs' e ev, Forall2 (alike R) hs hs' ->
  scheduled (poly_of hs e) ev <-> scheduled (poly_of hs' e) ev.
Proof.
  intros R hs hs' e [f x y] H. rewrite !scheduled_instance. unfold has_instance. cbn [name_of arguments_of hint_of].
  destruct (find_alike R _ _ H f (List.length x) (List.length y)) as [[-> ->] | (h & h' & -> & -> & t & -> & _)]; reflexivity.
Qed.

Lemma same_alike : forall R (hs : list shape), (forall h, In h hs -> alike R h h) -> Forall2 (alike R) hs hs.
Proof. induction hs as [|h hs IH]; intros H; constructor; [apply H; left; reflexivity | apply IH; intros g Hg; apply H; right; exact Hg]. Qed.

Definition longer (t u : list expr) : Prop := exists more, u = t ++ more.

Lemma untied_alike : forall hs ts, Forall2 (alike longer) hs (untied hs ts).
Proof.
  unfold untied. induction hs as [|h hs IH]; intros [|t ts]; cbn [retimed]; [constructor | constructor | |].
  - apply same_alike. intros g _. exists (shape_time g). split; [destruct g; reflexivity|]. exists []. rewrite app_nil_r. reflexivity.
  - constructor; [|apply IH]. exists (shape_time h ++ t). split; [reflexivity|]. exists t. reflexivity.
Qed.

Lemma lex_lt_front : forall a b t u, List.length a = List.length b -> lex_lt (a ++ t) (b ++ u) -> ~ lex_lt b a.
Proof.
  induction a as [|x a IH]; intros [|y b] t u Hlen; try discriminate; cbn [app lex_lt]; [auto|].
  intros [H | [-> H]] [H' | [H' H'']]; try lia. cbn in Hlen. exact (IH b t u ltac:(lia) H H'').
Qed.

(** All times have the same number of places. *)
Definition same_width (hs : list shape) : bool :=
  match hs with
  | [] => true
  | h :: hs' => forallb (fun g => Nat.eqb (List.length (shape_time g)) (List.length (shape_time h))) hs'
  end.

Lemma same_width_known : forall hs g h, same_width hs = true -> In g hs -> In h hs ->
  List.length (shape_time g) = List.length (shape_time h).
Proof.
  intros [|k hs] g h H; [intros []|]. cbn [same_width] in H. rewrite forallb_forall in H.
  assert (Hk : forall g, In g (k :: hs) -> List.length (shape_time g) = List.length (shape_time k)).
  { intros f [<- | Hf]; [reflexivity | apply Nat.eqb_eq, H, Hf]. }
  intros Hg Hh. rewrite (Hk g Hg), (Hk h Hh). reflexivity.
Qed.

Lemma untied_after : forall hs ts e a b, same_width hs = true ->
  scheduled (poly_of hs e) a -> scheduled (poly_of hs e) b ->
  sooner (poly_of (untied hs ts) e) a b -> after (poly_of hs e) a b.
Proof.
  intros hs ts e a b Hwidth Ha Hb H. unfold sooner in H. split.
  { intros ->. exact (lex_lt_irreflexive _ H). }
  unfold in_time. pose proof (untied_alike hs ts) as Hlike.
  assert (Hparts : forall ev, scheduled (poly_of hs e) ev -> exists h more, In h hs /\
            List.length (time_of (poly_of hs e) ev) = List.length (shape_time h) /\
            time_of (poly_of (untied hs ts) e) ev = time_of (poly_of hs e) ev ++ more).
  { intros [f x y] Hev. rewrite !time_instance.
    apply scheduled_instance in Hev. unfold has_instance, at_time in *. cbn [name_of arguments_of hint_of] in *.
    destruct (find_alike _ _ _ Hlike f (List.length x) (List.length y)) as [[E1 E2] | (h & h' & E1 & E2 & t & -> & u & Hu)];
      rewrite E1 in *; [contradiction|]. rewrite E2. exists h, (map (eval (instance e h x y)) u).
    split; [apply find_shape_known in E1; apply E1 | split; [apply map_length|]].
    cbn [with_time shape_time]. rewrite Hu, map_app. reflexivity. }
  destruct (Hparts a Ha) as (h & more & Hh & Hla & Hta). destruct (Hparts b Hb) as (h' & more' & Hh' & Hlb & Htb).
  rewrite Hta, Htb in H. apply (lex_lt_front _ _ more more'); [|exact H].
  rewrite Hla, Hlb. exact (same_width_known _ _ _ Hwidth Hh Hh').
Qed.

(** ** A program and its specification *)

(** How to see it: the order, the calls that run the instances of each
    statement, and further places for times that are equal. *)
Record proposal := Proposal {
  order : guide;
  covered : list cover;
  ties : list (list expr)
}.

Definition goals (G : specification) (n : node) (how : proposal) : list goal :=
  let (c, s) := beginning G in
  walk (untied (shapes G) (ties how)) c (order how) c s [] [] n ++ covers_goals c s n (shapes G) (covered how).

(** The terms of the specification use no names but their own. *)
Definition closed_shape (names : list string) (h : shape) : bool :=
  let own := shape_arguments h ++ shape_hints h ++ names in
  closed_test own (shape_domain h) && forallb (closed_expr own) (shape_time h).

Definition closed_specification (G : specification) : bool :=
  closed_test (sizes G) (assumption G) && forallb (closed_shape (sizes G)) (shapes G).

Definition well_formed (G : specification) (n : node) : bool :=
  closed_specification G && closed (sizes G) n && same_width (shapes G).

Definition check (G : specification) (n : node) (how : proposal) (cs : list certificate) : bool :=
  well_formed G n && refutes_all cs (goals G n how).

Lemma walked : forall G n how p, Forall refuted (goals G n how) -> context (meant G) p ->
  let e := environment (meant G) p in
  regular e n /\ (forall ev, scheduled (poly_of (shapes G) e) ev -> reached e n ev) /\
  (forall ev, reached e n ev -> scheduled (poly_of (shapes G) e) ev) /\
  ordered (sooner (poly_of (untied (shapes G) (ties how)) e)) e n.
Proof.
  intros G n how p H Hp e. unfold goals in H. destruct (beginning G) as [c s] eqn:E.
  apply Forall_app in H as [H1 H2].
  destruct (beginning_models _ _ _ _ E Hp) as (v & Hm & Hc).
  pose proof (walk_sound _ e c n _ _ _ _ _ e v [] [] H1 Hc Hc Hm (Forall2_nil _) (Forall2_nil _)) as [Hreg Hord Htime].
  split; [exact Hreg | split; [|split; [|exact Hord]]].
  - exact (covers_sound _ _ _ _ _ _ _ H2 Hm Hc).
  - intros ev Hev. destruct (Htime ev Hev) as [Hs _]. revert Hs. apply (scheduled_alike longer). apply untied_alike.
Qed.

Lemma ordered_among : forall (R S : event -> event -> Prop) (Q : event -> Prop),
  (forall a b, Q a -> Q b -> R a b -> S a b) ->
  forall n e, (forall ev, reached e n ev -> Q ev) -> ordered R e n -> ordered S e n.
Proof.
  intros R S Q HRS.
  induction n as [f args hint|cs IH|c i j IHi IHj|x i c s n IHn|x i n IHn|text n IHn]
    using node_induction; intros e HQ; cbn [ordered]; auto.
  - cbn [reached] in HQ. induction IH as [|c cs Hc _ IHcs]; [auto|]. intros (H1 & H2 & H3). cbn [map any] in HQ.
    split; [apply Hc; [intros ev Hev; apply HQ; auto | exact H1]|].
    split; [|apply IHcs; [intros ev Hev; apply HQ; auto | exact H3]].
    intros a b Ha Hb. apply HRS; auto.
  - cbn [reached] in HQ. intros [H1 H2].
    split; intros H; [apply IHi | apply IHj]; auto; intros ev Hev; apply HQ; auto.
  - cbn [reached] in HQ. intros [H1 H2]. split.
    + intros v Hv Hc. apply IHn; [|auto]. intros ev Hev. apply HQ. eauto.
    + intros v w Hv Hcv Hw Hcw Hlt a b Ha Hb. apply HRS; [apply HQ; eauto | apply HQ; eauto | eauto].
Qed.

(** A program that passes the check runs exactly what is specified, in order,
    for all values of the parameters. *)
Theorem check_implements : forall G n how cs, check G n how cs = true -> implements (meant G) n.
Proof.
  intros G n how cs H. unfold check in H. apply andb_prop in H as [Hwell H].
  unfold well_formed in Hwell. apply andb_prop in Hwell as [Hwell Hwidth]. apply andb_prop in Hwell as [_ Hclosed].
  apply refutes_all_sound in H. apply program_correct; [exact Hclosed|]. intros p Hp.
  destruct (walked G n how p H Hp) as (Hreg & Hcov & Hsound & Hord). constructor; auto.
  revert Hord. apply ordered_among with (Q := scheduled (poly_of (shapes G) (environment (meant G) p))); [|exact Hsound].
  intros a b Ha Hb. exact (untied_after _ _ _ _ _ Hwidth Ha Hb).
Qed.

(** ** Transformations *)

(** A cell: an array and its subscripts, over the arguments of a statement. *)
Definition place := (string * list expr)%type.

(** What a statement may read and may write. *)
Record use := Use { may_read : list place; may_write : list place }.

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

Definition common_uses (u v : use) : list (list expr * list expr) :=
  common_places (may_write u) (may_write v) ++ common_places (may_write u) (may_read v) ++
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

Definition change_goals (T : change) (n n' : node) (how how' : proposal) : list goal :=
  goals (original T) n how ++ goals (changed T) n' how' ++ legality_goals T.

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

(** *** Soundness *)

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

Lemma subscripts_at : forall e e' l m,
  subscripts (map (place_at e) l) (map (place_at e') m) =
  map (fun ab => (map (eval e) (fst ab), map (eval e') (snd ab))) (common_places l m).
Proof.
  intros e e' l m. unfold subscripts, common_places. induction l as [|c l IH]; [reflexivity|].
  cbn [map flat_map]. rewrite map_app, IH. f_equal. clear IH.
  induction m as [|d m IH]; [reflexivity|]. cbn [map flat_map]. rewrite map_app, IH. f_equal.
  cbn [place_at fst snd]. destruct (String.eqb (fst c) (fst d)); reflexivity.
Qed.

Lemma any_exists : forall A (f : A -> Prop) l, any (map f l) -> Exists f l.
Proof. intros A f. induction l as [|a l IH]; cbn [map any]; [contradiction|]. intros [H | H]; [left | right]; auto. Qed.

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

Lemma legality_sound : forall T p,
  distinct (shapes (original T)) = true ->
  List.length (new_times T) = List.length (shapes (original T)) ->
  List.length (uses T) = List.length (shapes (original T)) ->
  Forall refuted (legality_goals T) -> context (meant (original T)) p ->
  let e := environment (meant (original T)) p in
  forall a b, scheduled (statements (meant (original T)) p) a -> scheduled (statements (meant (original T)) p) b ->
  conflicting (accesses_of (memory_uses T e)) a b ->
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
  { apply conflicting_meet in Hc. unfold meeting, memory_uses in Hc. fold hs in Hc.
    rewrite !(distinct_cells _ e hs (uses T) h u x y _ Hdistinct Hlu Hpair eq_refl) in Hc.
    rewrite !(distinct_cells _ e hs (uses T) h' u' x' y' _ Hdistinct Hlu Hpair' eq_refl) in Hc.
    cbn [access_of reads_of writes_of meet] in Hc.
    rewrite <- (instance_no_hints e h x y Hhint), <- (instance_no_hints e h' x' y' Hhint') in Hc.
    fold i j in Hc. rewrite !subscripts_at, !map_map in Hc. cbn [fst snd] in Hc.
    unfold common_uses. rewrite !Exists_app.
    destruct Hc as [Hc | [Hc | Hc]]; apply any_exists in Hc; auto. }
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

(** Two programs that pass the check leave the same memory: for all values of
    the parameters, all memories and all instructions that read and write what
    is stated, both end, and the memories they leave are equal. *)
Theorem check_same_memory : forall T n n' how how' cs, check_change T n n' how how' cs = true ->
  forall p, context (meant (original T)) p ->
  compute_the_same (accesses_of (memory_uses T (environment (meant (original T)) p)))
    (environment (meant (original T)) p) n n'.
Proof.
  intros T n n' how how' cs H. unfold check_change in H. apply andb_prop in H as [Hwell H].
  apply refutes_all_sound in H. unfold change_goals in H. apply Forall_app in H as [H1 H]. apply Forall_app in H as [H2 H3].
  unfold well_formed_change in Hwell. apply andb_prop in Hwell as [Hwell Hties]. apply andb_prop in Hwell as [Hwell _].
  apply andb_prop in Hwell as [Hwell Hlu]. apply andb_prop in Hwell as [Hwell Hlt].
  apply andb_prop in Hwell as [Hwell Hdistinct]. apply andb_prop in Hwell as [Hw Hw'].
  apply Nat.eqb_eq in Hlu. apply Nat.eqb_eq in Hlt. destruct how as [g k [|tie rest]]; [|discriminate].
  assert (Himpl : forall G m how, well_formed G m = true -> Forall refuted (goals G m how) -> implements (meant G) m).
  { intros G m w Hwell Hgoals. unfold well_formed in Hwell. apply andb_prop in Hwell as [Hwell Hwidth].
    apply andb_prop in Hwell as [_ Hclosed]. apply program_correct; [exact Hclosed|]. intros p Hp.
    destruct (walked G m w p Hgoals Hp) as (Hreg & Hcov & Hsound & Hord). constructor; auto.
    revert Hord. apply ordered_among with (Q := scheduled (poly_of (shapes G) (environment (meant G) p))); [|exact Hsound].
    intros a b Ha Hb. exact (untied_after _ _ _ _ _ Hwidth Ha Hb). }
  apply (transformation_correct (fun p => accesses_of (memory_uses T (environment (meant (original T)) p)))
    (meant (original T)) (meant (changed T))); auto.
  - eapply Himpl; eauto.
  - eapply Himpl; eauto.
  - intros p Hp. constructor.
    + intros ev. apply (scheduled_alike (fun _ _ => True)). apply retimed_alike.
    + intros a b Ha Hb _ Htime.
      destruct (walked _ _ _ p H1 Hp) as (Hreg & Hcov & _ & Hord). cbn [ties] in Hord. rewrite untied_nothing in Hord.
      exact (times_differ _ _ _ Hreg Hcov Hord a b Ha Hb Htime).
    + intros a b Ha Hb Hc Hlex. exact (legality_sound T p Hdistinct Hlt Hlu H3 Hp a b Ha Hb Hc Hlex).
Qed.
