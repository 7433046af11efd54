
(** val xorb : bool -> bool -> bool **)

let xorb b1 b2 =
  if b1 then if b2 then false else true else b2

(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type nat =
| O
| S of nat

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> nat **)

let rec length = function
| [] -> O
| _ :: l' -> S (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val compOpp : comparison -> comparison **)

let compOpp = function
| Eq -> Eq
| Lt -> Gt
| Gt -> Lt

(** val pred : nat -> nat **)

let pred n0 = match n0 with
| O -> n0
| S u -> u

(** val add : nat -> nat -> nat **)

let rec add n0 m =
  match n0 with
  | O -> m
  | S p -> S (add p m)

(** val mul : nat -> nat -> nat **)

let rec mul n0 m =
  match n0 with
  | O -> O
  | S p -> add m (mul p m)

type positive =
| XI of positive
| XO of positive
| XH

type n =
| N0
| Npos of positive

type z =
| Z0
| Zpos of positive
| Zneg of positive

(** val bool_dec : bool -> bool -> bool **)

let bool_dec b1 b2 =
  if b1 then if b2 then true else false else if b2 then false else true

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

module Nat =
 struct
  (** val pred : nat -> nat **)

  let pred n0 = match n0 with
  | O -> n0
  | S u -> u

  (** val eqb : nat -> nat -> bool **)

  let rec eqb n0 m =
    match n0 with
    | O -> (match m with
            | O -> true
            | S _ -> false)
    | S n' -> (match m with
               | O -> false
               | S m' -> eqb n' m')

  (** val leb : nat -> nat -> bool **)

  let rec leb n0 m =
    match n0 with
    | O -> true
    | S n' -> (match m with
               | O -> false
               | S m' -> leb n' m')

  (** val ltb : nat -> nat -> bool **)

  let ltb n0 m =
    leb (S n0) m
 end

module Pos =
 struct
  type mask =
  | IsNul
  | IsPos of positive
  | IsNeg
 end

module Coq_Pos =
 struct
  (** val succ : positive -> positive **)

  let rec succ = function
  | XI p -> XO (succ p)
  | XO p -> XI p
  | XH -> XO XH

  (** val add : positive -> positive -> positive **)

  let rec add x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XO p ->
      (match y with
       | XI q -> XI (add p q)
       | XO q -> XO (add p q)
       | XH -> XI p)
    | XH -> (match y with
             | XI q -> XO (succ q)
             | XO q -> XI q
             | XH -> XO XH)

  (** val add_carry : positive -> positive -> positive **)

  and add_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XI (add_carry p q)
       | XO q -> XO (add_carry p q)
       | XH -> XI (succ p))
    | XO p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XH ->
      (match y with
       | XI q -> XI (succ q)
       | XO q -> XO (succ q)
       | XH -> XI XH)

  (** val pred_double : positive -> positive **)

  let rec pred_double = function
  | XI p -> XI (XO p)
  | XO p -> XI (pred_double p)
  | XH -> XH

  type mask = Pos.mask =
  | IsNul
  | IsPos of positive
  | IsNeg

  (** val succ_double_mask : mask -> mask **)

  let succ_double_mask = function
  | IsNul -> IsPos XH
  | IsPos p -> IsPos (XI p)
  | IsNeg -> IsNeg

  (** val double_mask : mask -> mask **)

  let double_mask = function
  | IsPos p -> IsPos (XO p)
  | x0 -> x0

  (** val double_pred_mask : positive -> mask **)

  let double_pred_mask = function
  | XI p -> IsPos (XO (XO p))
  | XO p -> IsPos (XO (pred_double p))
  | XH -> IsNul

  (** val sub_mask : positive -> positive -> mask **)

  let rec sub_mask x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> double_mask (sub_mask p q)
       | XO q -> succ_double_mask (sub_mask p q)
       | XH -> IsPos (XO p))
    | XO p ->
      (match y with
       | XI q -> succ_double_mask (sub_mask_carry p q)
       | XO q -> double_mask (sub_mask p q)
       | XH -> IsPos (pred_double p))
    | XH -> (match y with
             | XH -> IsNul
             | _ -> IsNeg)

  (** val sub_mask_carry : positive -> positive -> mask **)

  and sub_mask_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> succ_double_mask (sub_mask_carry p q)
       | XO q -> double_mask (sub_mask p q)
       | XH -> IsPos (pred_double p))
    | XO p ->
      (match y with
       | XI q -> double_mask (sub_mask_carry p q)
       | XO q -> succ_double_mask (sub_mask_carry p q)
       | XH -> double_pred_mask p)
    | XH -> IsNeg

  (** val mul : positive -> positive -> positive **)

  let rec mul x y =
    match x with
    | XI p -> add y (XO (mul p y))
    | XO p -> XO (mul p y)
    | XH -> y

  (** val compare_cont : comparison -> positive -> positive -> comparison **)

  let rec compare_cont r x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> compare_cont r p q
       | XO q -> compare_cont Gt p q
       | XH -> Gt)
    | XO p ->
      (match y with
       | XI q -> compare_cont Lt p q
       | XO q -> compare_cont r p q
       | XH -> Gt)
    | XH -> (match y with
             | XH -> r
             | _ -> Lt)

  (** val compare : positive -> positive -> comparison **)

  let compare =
    compare_cont Eq

  (** val eqb : positive -> positive -> bool **)

  let rec eqb p q =
    match p with
    | XI p0 -> (match q with
                | XI q0 -> eqb p0 q0
                | _ -> false)
    | XO p0 -> (match q with
                | XO q0 -> eqb p0 q0
                | _ -> false)
    | XH -> (match q with
             | XH -> true
             | _ -> false)

  (** val eq_dec : positive -> positive -> bool **)

  let rec eq_dec p x0 =
    match p with
    | XI p0 -> (match x0 with
                | XI p1 -> eq_dec p0 p1
                | _ -> false)
    | XO p0 -> (match x0 with
                | XO p1 -> eq_dec p0 p1
                | _ -> false)
    | XH -> (match x0 with
             | XH -> true
             | _ -> false)
 end

module N =
 struct
  (** val succ_double : n -> n **)

  let succ_double = function
  | N0 -> Npos XH
  | Npos p -> Npos (XI p)

  (** val double : n -> n **)

  let double = function
  | N0 -> N0
  | Npos p -> Npos (XO p)

  (** val add : n -> n -> n **)

  let add n0 m =
    match n0 with
    | N0 -> m
    | Npos p -> (match m with
                 | N0 -> n0
                 | Npos q -> Npos (Coq_Pos.add p q))

  (** val sub : n -> n -> n **)

  let sub n0 m =
    match n0 with
    | N0 -> N0
    | Npos n' ->
      (match m with
       | N0 -> n0
       | Npos m' ->
         (match Coq_Pos.sub_mask n' m' with
          | Coq_Pos.IsPos p -> Npos p
          | _ -> N0))

  (** val mul : n -> n -> n **)

  let mul n0 m =
    match n0 with
    | N0 -> N0
    | Npos p -> (match m with
                 | N0 -> N0
                 | Npos q -> Npos (Coq_Pos.mul p q))

  (** val compare : n -> n -> comparison **)

  let compare n0 m =
    match n0 with
    | N0 -> (match m with
             | N0 -> Eq
             | Npos _ -> Lt)
    | Npos n' -> (match m with
                  | N0 -> Gt
                  | Npos m' -> Coq_Pos.compare n' m')

  (** val leb : n -> n -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val pos_div_eucl : positive -> n -> n * n **)

  let rec pos_div_eucl a b =
    match a with
    | XI a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' = succ_double r in
      if leb b r' then ((succ_double q), (sub r' b)) else ((double q), r')
    | XO a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' = double r in
      if leb b r' then ((succ_double q), (sub r' b)) else ((double q), r')
    | XH ->
      (match b with
       | N0 -> (N0, (Npos XH))
       | Npos p -> (match p with
                    | XH -> ((Npos XH), N0)
                    | _ -> (N0, (Npos XH))))
 end

module Z =
 struct
  (** val double : z -> z **)

  let double = function
  | Z0 -> Z0
  | Zpos p -> Zpos (XO p)
  | Zneg p -> Zneg (XO p)

  (** val succ_double : z -> z **)

  let succ_double = function
  | Z0 -> Zpos XH
  | Zpos p -> Zpos (XI p)
  | Zneg p -> Zneg (Coq_Pos.pred_double p)

  (** val pred_double : z -> z **)

  let pred_double = function
  | Z0 -> Zneg XH
  | Zpos p -> Zpos (Coq_Pos.pred_double p)
  | Zneg p -> Zneg (XI p)

  (** val pos_sub : positive -> positive -> z **)

  let rec pos_sub x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> double (pos_sub p q)
       | XO q -> succ_double (pos_sub p q)
       | XH -> Zpos (XO p))
    | XO p ->
      (match y with
       | XI q -> pred_double (pos_sub p q)
       | XO q -> double (pos_sub p q)
       | XH -> Zpos (Coq_Pos.pred_double p))
    | XH ->
      (match y with
       | XI q -> Zneg (XO q)
       | XO q -> Zneg (Coq_Pos.pred_double q)
       | XH -> Z0)

  (** val add : z -> z -> z **)

  let add x y =
    match x with
    | Z0 -> y
    | Zpos x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> Zpos (Coq_Pos.add x' y')
       | Zneg y' -> pos_sub x' y')
    | Zneg x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> pos_sub y' x'
       | Zneg y' -> Zneg (Coq_Pos.add x' y'))

  (** val opp : z -> z **)

  let opp = function
  | Z0 -> Z0
  | Zpos x0 -> Zneg x0
  | Zneg x0 -> Zpos x0

  (** val sub : z -> z -> z **)

  let sub m n0 =
    add m (opp n0)

  (** val mul : z -> z -> z **)

  let mul x y =
    match x with
    | Z0 -> Z0
    | Zpos x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zpos (Coq_Pos.mul x' y')
       | Zneg y' -> Zneg (Coq_Pos.mul x' y'))
    | Zneg x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zneg (Coq_Pos.mul x' y')
       | Zneg y' -> Zpos (Coq_Pos.mul x' y'))

  (** val compare : z -> z -> comparison **)

  let compare x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> Eq
             | Zpos _ -> Lt
             | Zneg _ -> Gt)
    | Zpos x' -> (match y with
                  | Zpos y' -> Coq_Pos.compare x' y'
                  | _ -> Gt)
    | Zneg x' ->
      (match y with
       | Zneg y' -> compOpp (Coq_Pos.compare x' y')
       | _ -> Lt)

  (** val leb : z -> z -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val ltb : z -> z -> bool **)

  let ltb x y =
    match compare x y with
    | Lt -> true
    | _ -> false

  (** val eqb : z -> z -> bool **)

  let eqb x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> true
             | _ -> false)
    | Zpos p -> (match y with
                 | Zpos q -> Coq_Pos.eqb p q
                 | _ -> false)
    | Zneg p -> (match y with
                 | Zneg q -> Coq_Pos.eqb p q
                 | _ -> false)

  (** val max : z -> z -> z **)

  let max n0 m =
    match compare n0 m with
    | Lt -> m
    | _ -> n0

  (** val min : z -> z -> z **)

  let min n0 m =
    match compare n0 m with
    | Gt -> m
    | _ -> n0

  (** val abs : z -> z **)

  let abs = function
  | Zneg p -> Zpos p
  | x -> x

  (** val of_N : n -> z **)

  let of_N = function
  | N0 -> Z0
  | Npos p -> Zpos p

  (** val pos_div_eucl : positive -> z -> z * z **)

  let rec pos_div_eucl a b =
    match a with
    | XI a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' = add (mul (Zpos (XO XH)) r) (Zpos XH) in
      if ltb r' b
      then ((mul (Zpos (XO XH)) q), r')
      else ((add (mul (Zpos (XO XH)) q) (Zpos XH)), (sub r' b))
    | XO a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' = mul (Zpos (XO XH)) r in
      if ltb r' b
      then ((mul (Zpos (XO XH)) q), r')
      else ((add (mul (Zpos (XO XH)) q) (Zpos XH)), (sub r' b))
    | XH -> if leb (Zpos (XO XH)) b then (Z0, (Zpos XH)) else ((Zpos XH), Z0)

  (** val div_eucl : z -> z -> z * z **)

  let div_eucl a b =
    match a with
    | Z0 -> (Z0, Z0)
    | Zpos a' ->
      (match b with
       | Z0 -> (Z0, a)
       | Zpos _ -> pos_div_eucl a' b
       | Zneg b' ->
         let (q, r) = pos_div_eucl a' (Zpos b') in
         (match r with
          | Z0 -> ((opp q), Z0)
          | _ -> ((opp (add q (Zpos XH))), (add b r))))
    | Zneg a' ->
      (match b with
       | Z0 -> (Z0, a)
       | Zpos _ ->
         let (q, r) = pos_div_eucl a' b in
         (match r with
          | Z0 -> ((opp q), Z0)
          | _ -> ((opp (add q (Zpos XH))), (sub b r)))
       | Zneg b' -> let (q, r) = pos_div_eucl a' (Zpos b') in (q, (opp r)))

  (** val div : z -> z -> z **)

  let div a b =
    let (q, _) = div_eucl a b in q

  (** val modulo : z -> z -> z **)

  let modulo a b =
    let (_, r) = div_eucl a b in r

  (** val quotrem : z -> z -> z * z **)

  let quotrem a b =
    match a with
    | Z0 -> (Z0, Z0)
    | Zpos a0 ->
      (match b with
       | Z0 -> (Z0, a)
       | Zpos b0 ->
         let (q, r) = N.pos_div_eucl a0 (Npos b0) in ((of_N q), (of_N r))
       | Zneg b0 ->
         let (q, r) = N.pos_div_eucl a0 (Npos b0) in
         ((opp (of_N q)), (of_N r)))
    | Zneg a0 ->
      (match b with
       | Z0 -> (Z0, a)
       | Zpos b0 ->
         let (q, r) = N.pos_div_eucl a0 (Npos b0) in
         ((opp (of_N q)), (opp (of_N r)))
       | Zneg b0 ->
         let (q, r) = N.pos_div_eucl a0 (Npos b0) in
         ((of_N q), (opp (of_N r))))

  (** val quot : z -> z -> z **)

  let quot a b =
    fst (quotrem a b)

  (** val rem : z -> z -> z **)

  let rem a b =
    snd (quotrem a b)

  (** val eq_dec : z -> z -> bool **)

  let eq_dec x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> true
             | _ -> false)
    | Zpos p -> (match y with
                 | Zpos p0 -> Coq_Pos.eq_dec p p0
                 | _ -> false)
    | Zneg p -> (match y with
                 | Zneg p0 -> Coq_Pos.eq_dec p p0
                 | _ -> false)
 end

(** val in_dec : ('a1 -> 'a1 -> bool) -> 'a1 -> 'a1 list -> bool **)

let rec in_dec h a = function
| [] -> false
| y :: l0 -> let s = h y a in if s then true else in_dec h a l0

(** val nth_error : 'a1 list -> nat -> 'a1 option **)

let rec nth_error l = function
| O -> (match l with
        | [] -> None
        | x :: _ -> Some x)
| S n1 -> (match l with
           | [] -> None
           | _ :: l0 -> nth_error l0 n1)

(** val rev : 'a1 list -> 'a1 list **)

let rec rev = function
| [] -> []
| x :: l' -> app (rev l') (x :: [])

(** val list_eq_dec : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool **)

let rec list_eq_dec eq_dec0 l l' =
  match l with
  | [] -> (match l' with
           | [] -> true
           | _ :: _ -> false)
  | y :: l0 ->
    (match l' with
     | [] -> false
     | a :: l1 -> if eq_dec0 y a then list_eq_dec eq_dec0 l0 l1 else false)

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t -> (f a) :: (map f t)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t -> app (f x) (flat_map f t)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t -> fold_left f t (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t -> f b (fold_right f a0 t)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl -> if f x then Some x else find f tl

(** val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec combine l l' =
  match l with
  | [] -> []
  | x :: tl ->
    (match l' with
     | [] -> []
     | y :: tl' -> (x, y) :: (combine tl tl'))

(** val firstn : nat -> 'a1 list -> 'a1 list **)

let rec firstn n0 l =
  match n0 with
  | O -> []
  | S n1 -> (match l with
             | [] -> []
             | a :: l0 -> a :: (firstn n1 l0))

(** val skipn : nat -> 'a1 list -> 'a1 list **)

let rec skipn n0 l =
  match n0 with
  | O -> l
  | S n1 -> (match l with
             | [] -> []
             | _ :: l0 -> skipn n1 l0)

(** val nodup : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec nodup decA = function
| [] -> []
| x :: xs -> if in_dec decA x xs then nodup decA xs else x :: (nodup decA xs)

(** val repeat : 'a1 -> nat -> 'a1 list **)

let rec repeat x = function
| O -> []
| S k -> x :: (repeat x k)

type ascii =
| Ascii of bool * bool * bool * bool * bool * bool * bool * bool

(** val ascii_dec : ascii -> ascii -> bool **)

let ascii_dec a b =
  let Ascii (b0, b1, b2, b3, b4, b5, b6, b7) = a in
  let Ascii (b8, b9, b10, b11, b12, b13, b14, b15) = b in
  if bool_dec b0 b8
  then if bool_dec b1 b9
       then if bool_dec b2 b10
            then if bool_dec b3 b11
                 then if bool_dec b4 b12
                      then if bool_dec b5 b13
                           then if bool_dec b6 b14
                                then bool_dec b7 b15
                                else false
                           else false
                      else false
                 else false
            else false
       else false
  else false

(** val eqb0 : ascii -> ascii -> bool **)

let eqb0 a b =
  let Ascii (a0, a1, a2, a3, a4, a5, a6, a7) = a in
  let Ascii (b0, b1, b2, b3, b4, b5, b6, b7) = b in
  if if if if if if if eqb a0 b0 then eqb a1 b1 else false
                 then eqb a2 b2
                 else false
              then eqb a3 b3
              else false
           then eqb a4 b4
           else false
        then eqb a5 b5
        else false
     then eqb a6 b6
     else false
  then eqb a7 b7
  else false

(** val n_of_digits : bool list -> n **)

let rec n_of_digits = function
| [] -> N0
| b :: l' ->
  N.add (if b then Npos XH else N0) (N.mul (Npos (XO XH)) (n_of_digits l'))

(** val n_of_ascii : ascii -> n **)

let n_of_ascii = function
| Ascii (a0, a1, a2, a3, a4, a5, a6, a7) ->
  n_of_digits
    (a0 :: (a1 :: (a2 :: (a3 :: (a4 :: (a5 :: (a6 :: (a7 :: []))))))))

type string =
| EmptyString
| String of ascii * string

(** val string_dec : string -> string -> bool **)

let rec string_dec s x =
  match s with
  | EmptyString -> (match x with
                    | EmptyString -> true
                    | String (_, _) -> false)
  | String (a, s0) ->
    (match x with
     | EmptyString -> false
     | String (a0, s1) -> if ascii_dec a a0 then string_dec s0 s1 else false)

(** val eqb1 : string -> string -> bool **)

let rec eqb1 s1 s2 =
  match s1 with
  | EmptyString ->
    (match s2 with
     | EmptyString -> true
     | String (_, _) -> false)
  | String (c1, s1') ->
    (match s2 with
     | EmptyString -> false
     | String (c2, s2') -> if eqb0 c1 c2 then eqb1 s1' s2' else false)

(** val append : string -> string -> string **)

let rec append s1 s2 =
  match s1 with
  | EmptyString -> s2
  | String (c, s1') -> String (c, (append s1' s2))

type relation =
| EQ
| NE
| LE
| LT
| GE
| GT

type expr =
| Int of z
| Var of string
| Sum of expr list
| Scaled of z * expr
| FloorDiv of expr * positive
| TruncDiv of expr * positive
| Rem of expr * positive
| Min of expr list
| Max of expr list
| Select of test * expr * expr
and test =
| Compare of relation * expr * expr
| And of test list
| Or of test list
| Not of test

type node =
| Call of string * expr list * expr list
| Block of node list
| If of test * node * node
| For of string * expr * test * positive * node
| Let of string * expr * node
| Mark of string * node

type env = (string * z) list

(** val lookup : string -> env -> z **)

let rec lookup x = function
| [] -> Z0
| p :: e' -> let (y, v) = p in if eqb1 x y then v else lookup x e'

(** val sum : z list -> z **)

let sum = function
| [] -> Z0
| a :: l' -> fold_left Z.add l' a

(** val minimum : z list -> z **)

let minimum = function
| [] -> Z0
| a :: l' -> fold_left Z.min l' a

(** val maximum : z list -> z **)

let maximum = function
| [] -> Z0
| a :: l' -> fold_left Z.max l' a

(** val compare0 : relation -> z -> z -> bool **)

let compare0 r a b =
  match r with
  | EQ -> Z.eqb a b
  | NE -> negb (Z.eqb a b)
  | LE -> Z.leb a b
  | LT -> Z.ltb a b
  | GE -> Z.leb b a
  | GT -> Z.ltb b a

(** val eval : env -> expr -> z **)

let rec eval e = function
| Int v -> v
| Var x -> lookup x e
| Sum l -> sum (map (eval e) l)
| Scaled (k, b) -> Z.mul k (eval e b)
| FloorDiv (b, d) -> Z.div (eval e b) (Zpos d)
| TruncDiv (b, d) -> Z.quot (eval e b) (Zpos d)
| Rem (b, d) -> Z.rem (eval e b) (Zpos d)
| Min l -> minimum (map (eval e) l)
| Max l -> maximum (map (eval e) l)
| Select (t, b, c) -> if decide e t then eval e b else eval e c

(** val decide : env -> test -> bool **)

and decide e = function
| Compare (r, a, b) -> compare0 r (eval e a) (eval e b)
| And l -> forallb (decide e) l
| Or l -> existsb (decide e) l
| Not u -> negb (decide e u)

(** val some : 'a1 list -> bool **)

let some = function
| [] -> false
| _ :: _ -> true

(** val closed_expr : string list -> expr -> bool **)

let rec closed_expr names = function
| Int _ -> true
| Var x -> existsb (eqb1 x) names
| Sum l -> forallb (closed_expr names) l
| Scaled (_, b) -> closed_expr names b
| FloorDiv (b, _) -> closed_expr names b
| TruncDiv (b, _) -> closed_expr names b
| Rem (b, _) -> closed_expr names b
| Min l -> (&&) (some l) (forallb (closed_expr names) l)
| Max l -> (&&) (some l) (forallb (closed_expr names) l)
| Select (t, b, c) ->
  (&&) ((&&) (closed_test names t) (closed_expr names b))
    (closed_expr names c)

(** val closed_test : string list -> test -> bool **)

and closed_test names = function
| Compare (_, a, b) -> (&&) (closed_expr names a) (closed_expr names b)
| And l -> forallb (closed_test names) l
| Or l -> forallb (closed_test names) l
| Not u -> closed_test names u

(** val closed : string list -> node -> bool **)

let rec closed names = function
| Call (_, args, hint) ->
  (&&) (forallb (closed_expr names) args) (forallb (closed_expr names) hint)
| Block cs -> forallb (closed names) cs
| If (c, a, b) ->
  (&&) ((&&) (closed_test names c) (closed names a)) (closed names b)
| For (x, a, c, _, b) ->
  (&&) ((&&) (closed_expr names a) (closed_test (x :: names) c))
    (closed (x :: names) b)
| Let (x, a, b) -> (&&) (closed_expr names a) (closed (x :: names) b)
| Mark (_, b) -> closed names b

type lin = z * z list

(** val add_vectors : z list -> z list -> z list **)

let rec add_vectors k m =
  match k with
  | [] -> m
  | a :: k' ->
    (match m with
     | [] -> k
     | b :: m' -> (Z.add a b) :: (add_vectors k' m'))

(** val number : z -> lin **)

let number c =
  (c, [])

(** val plus : lin -> lin -> lin **)

let plus l m =
  ((Z.add (fst l) (fst m)), (add_vectors (snd l) (snd m)))

(** val times : z -> lin -> lin **)

let times a l =
  ((Z.mul a (fst l)), (map (Z.mul a) (snd l)))

(** val minus : lin -> lin -> lin **)

let minus l m =
  plus l (times (Zneg XH) m)

(** val variable : nat -> lin **)

let variable k =
  (Z0, (app (repeat Z0 k) ((Zpos XH) :: [])))

(** val constant : lin -> bool **)

let constant l =
  forallb (Z.eqb Z0) (snd l)

type fact =
| Above of lin
| Zero of lin
| Both of fact list
| Either of fact list

(** val never : fact **)

let never =
  Either []

(** val always : fact **)

let always =
  Both []

(** val above : lin -> fact **)

let above l =
  if constant l then if Z.leb Z0 (fst l) then always else never else Above l

(** val zero : lin -> fact **)

let zero l =
  if constant l then if Z.eqb (fst l) Z0 then always else never else Zero l

(** val join : fact list -> fact list **)

let rec join = function
| [] -> []
| f :: fs' ->
  (match f with
   | Both gs -> app gs (join fs')
   | Either facts0 ->
     (match facts0 with
      | [] -> never :: []
      | _ :: _ ->
        (match join fs' with
         | [] -> f :: []
         | f0 :: l ->
           (match f0 with
            | Either facts1 ->
              (match facts1 with
               | [] ->
                 (match l with
                  | [] -> never :: []
                  | f1 :: l0 -> f :: ((Either []) :: (f1 :: l0)))
               | f1 :: l0 -> f :: ((Either (f1 :: l0)) :: l))
            | x -> f :: (x :: l))))
   | _ ->
     (match join fs' with
      | [] -> f :: []
      | f0 :: l ->
        (match f0 with
         | Either facts0 ->
           (match facts0 with
            | [] ->
              (match l with
               | [] -> never :: []
               | f1 :: l0 -> f :: ((Either []) :: (f1 :: l0)))
            | f1 :: l0 -> f :: ((Either (f1 :: l0)) :: l))
         | x -> f :: (x :: l))))

(** val both : fact list -> fact **)

let both fs =
  match join fs with
  | [] -> Both []
  | f :: l -> (match l with
               | [] -> f
               | f0 :: l0 -> Both (f :: (f0 :: l0)))

(** val choose : fact list -> fact list **)

let rec choose = function
| [] -> []
| f :: fs' ->
  (match f with
   | Both facts0 ->
     (match facts0 with
      | [] -> always :: []
      | _ :: _ ->
        (match choose fs' with
         | [] -> f :: []
         | f0 :: l ->
           (match f0 with
            | Both facts1 ->
              (match facts1 with
               | [] ->
                 (match l with
                  | [] -> always :: []
                  | f1 :: l0 -> f :: ((Both []) :: (f1 :: l0)))
               | f1 :: l0 -> f :: ((Both (f1 :: l0)) :: l))
            | x -> f :: (x :: l))))
   | Either gs -> app gs (choose fs')
   | _ ->
     (match choose fs' with
      | [] -> f :: []
      | f0 :: l ->
        (match f0 with
         | Both facts0 ->
           (match facts0 with
            | [] ->
              (match l with
               | [] -> always :: []
               | f1 :: l0 -> f :: ((Both []) :: (f1 :: l0)))
            | f1 :: l0 -> f :: ((Both (f1 :: l0)) :: l))
         | x -> f :: (x :: l))))

(** val either : fact list -> fact **)

let either fs =
  match choose fs with
  | [] -> Either []
  | f :: l -> (match l with
               | [] -> f
               | f0 :: l0 -> Either (f :: (f0 :: l0)))

type combination = (nat * z) list

type certificate =
| Farkas of combination
| Cut of combination * positive * certificate
| Split of lin * certificate * certificate
| Cases of nat * certificate list

(** val push : fact -> fact list -> fact list **)

let push f facts0 =
  match f with
  | Both gs -> app gs facts0
  | _ -> f :: facts0

(** val multiple : z -> fact -> lin option **)

let multiple a = function
| Above l -> if Z.leb Z0 a then Some (times a l) else None
| Zero l -> Some (times a l)
| _ -> None

(** val combined : combination -> fact list -> lin -> lin option **)

let rec combined c facts0 sum0 =
  match c with
  | [] -> Some sum0
  | p :: c' ->
    let (k, a) = p in
    (match skipn k facts0 with
     | [] -> None
     | f :: facts' ->
       (match multiple a f with
        | Some l -> combined c' facts' (plus l sum0)
        | None -> None))

(** val divisible : positive -> lin -> bool **)

let divisible d l =
  forallb (fun a -> Z.eqb (Z.modulo a (Zpos d)) Z0) (snd l)

(** val divided : positive -> lin -> lin **)

let divided d l =
  ((Z.div (fst l) (Zpos d)), (map (fun a -> Z.div a (Zpos d)) (snd l)))

(** val refutes : certificate -> fact list -> bool **)

let rec refutes c facts0 =
  match c with
  | Farkas s ->
    (match combined s facts0 (number Z0) with
     | Some l -> (&&) (constant l) (Z.ltb (fst l) Z0)
     | None -> false)
  | Cut (s, d, c') ->
    (match combined s facts0 (number Z0) with
     | Some l ->
       (&&) (divisible d l) (refutes c' ((Above (divided d l)) :: facts0))
     | None -> false)
  | Split (l, up, down) ->
    (&&) (refutes up ((Above l) :: facts0))
      (refutes down ((Above (minus (number (Zneg XH)) l)) :: facts0))
  | Cases (k, branches) ->
    (match nth_error facts0 k with
     | Some f ->
       (match f with
        | Either fs ->
          let rec each fs0 cs =
            match fs0 with
            | [] -> (match cs with
                     | [] -> true
                     | _ :: _ -> false)
            | f0 :: fs' ->
              (match cs with
               | [] -> false
               | c' :: cs' ->
                 (&&) (refutes c' (push f0 facts0)) (each fs' cs'))
          in each fs branches
        | _ -> false)
     | None -> false)

type rounding =
| Down
| Toward_zero

(** val divide : rounding -> z -> positive -> z **)

let divide r a d =
  match r with
  | Down -> Z.div a (Zpos d)
  | Toward_zero -> Z.quot a (Zpos d)

type state = { next : nat;
               quotients : (((lin * positive) * rounding) * nat) list;
               facts : fact list }

(** val fresh : state -> lin * state **)

let fresh s =
  ((variable s.next), { next = (S s.next); quotients = s.quotients; facts =
    s.facts })

(** val assume : fact -> state -> state **)

let assume f s =
  { next = s.next; quotients = s.quotients; facts = (push f s.facts) }

(** val same_vector : z list -> z list -> bool **)

let rec same_vector k m =
  match k with
  | [] -> (match m with
           | [] -> true
           | _ :: _ -> false)
  | a :: k' ->
    (match m with
     | [] -> false
     | b :: m' -> (&&) (Z.eqb a b) (same_vector k' m'))

(** val same_lin : lin -> lin -> bool **)

let same_lin l m =
  (&&) (Z.eqb (fst l) (fst m)) (same_vector (snd l) (snd m))

(** val same_rounding : rounding -> rounding -> bool **)

let same_rounding r q =
  match r with
  | Down -> (match q with
             | Down -> true
             | Toward_zero -> false)
  | Toward_zero -> (match q with
                    | Down -> false
                    | Toward_zero -> true)

(** val find_quotient :
    lin -> positive -> rounding -> (((lin * positive) * rounding) * nat) list
    -> nat option **)

let rec find_quotient l d r = function
| [] -> None
| p :: known' ->
  let (p0, k) = p in
  let (p1, q) = p0 in
  let (m, e) = p1 in
  if (&&) ((&&) (Coq_Pos.eqb d e) (same_rounding r q)) (same_lin l m)
  then Some k
  else find_quotient l d r known'

(** val divided_by :
    lin -> positive -> rounding -> (lin -> fact list) -> state -> lin * state **)

let divided_by l d r about s =
  if Coq_Pos.eqb d XH
  then (l, s)
  else if constant l
       then ((number (divide r (fst l) d)), s)
       else (match find_quotient l d r s.quotients with
             | Some k -> ((variable k), s)
             | None ->
               let q = variable s.next in
               (q, { next = (S s.next); quotients = ((((l, d), r),
               s.next) :: s.quotients); facts =
               (app (about (minus l (times (Zpos d) q))) s.facts) }))

(** val whole_part : lin -> positive -> lin **)

let whole_part l d =
  ((Z.div (fst l) (Zpos d)), (map (fun a -> Z.div a (Zpos d)) (snd l)))

(** val rest_part : lin -> positive -> lin **)

let rest_part l d =
  ((Z.modulo (fst l) (Zpos d)), (map (fun a -> Z.modulo a (Zpos d)) (snd l)))

(** val quotient : lin -> positive -> state -> lin * state **)

let quotient l d s =
  let (q, s1) =
    divided_by (rest_part l d) d Down (fun rest ->
      (above rest) :: ((above
                         (minus (number (Z.sub (Zpos d) (Zpos XH))) rest)) :: []))
      s
  in
  ((plus (whole_part l d) q), s1)

type scope = (string * lin) list

(** val find0 : string -> scope -> lin **)

let rec find0 x = function
| [] -> number Z0
| p :: c' -> let (y, l) = p in if eqb1 x y then l else find0 x c'

(** val opposite : relation -> relation **)

let opposite = function
| EQ -> NE
| NE -> EQ
| LE -> GT
| LT -> GE
| GE -> LT
| GT -> LE

(** val less : lin -> lin -> fact **)

let less l m =
  above (minus (minus m l) (number (Zpos XH)))

(** val at_most : lin -> lin -> fact **)

let at_most l m =
  above (minus m l)

(** val differ : lin -> lin -> fact **)

let differ l m =
  either ((less l m) :: ((less m l) :: []))

(** val compared : relation -> lin -> lin -> fact **)

let compared r l m =
  match r with
  | EQ -> zero (minus l m)
  | NE -> differ l m
  | LE -> at_most l m
  | LT -> less l m
  | GE -> at_most m l
  | GT -> less m l

(** val sum_all : lin list -> lin **)

let sum_all ls =
  fold_right plus (number Z0) ls

(** val least : lin list -> state -> lin * state **)

let least ls s =
  match ls with
  | [] -> ((number Z0), s)
  | l :: l0 ->
    (match l0 with
     | [] -> (l, s)
     | _ :: _ ->
       let (m, s1) = fresh s in
       (m,
       (assume
         (both
           ((either (map (fun l1 -> at_most l1 m) ls)) :: (map (at_most m) ls)))
         s1)))

(** val greatest : lin list -> state -> lin * state **)

let greatest ls s =
  match ls with
  | [] -> ((number Z0), s)
  | l :: l0 ->
    (match l0 with
     | [] -> (l, s)
     | _ :: _ ->
       let (m, s1) = fresh s in
       (m,
       (assume
         (both
           ((either (map (at_most m) ls)) :: (map (fun l1 -> at_most l1 m) ls)))
         s1)))

(** val truncated : lin -> positive -> state -> lin * state **)

let truncated l d =
  divided_by l d Toward_zero (fun rest ->
    (either
      ((both
         ((above l) :: ((above rest) :: ((above
                                           (minus
                                             (number
                                               (Z.sub (Zpos d) (Zpos XH)))
                                             rest)) :: [])))) :: ((both
                                                                    (
                                                                    (less l
                                                                    (number
                                                                    Z0)) :: (
                                                                    (above
                                                                    (times
                                                                    (Zneg XH)
                                                                    rest)) :: (
                                                                    (above
                                                                    (plus
                                                                    (number
                                                                    (Z.sub
                                                                    (Zpos d)
                                                                    (Zpos XH)))
                                                                    rest)) :: [])))) :: []))) :: [])

(** val linear : scope -> expr -> state -> lin * state **)

let rec linear c a s =
  let list0 =
    let rec list0 l s0 =
      match l with
      | [] -> ([], s0)
      | a0 :: l' ->
        let (m, s1) = linear c a0 s0 in
        let (ms, s2) = list0 l' s1 in ((m :: ms), s2)
    in list0
  in
  (match a with
   | Int z0 -> ((number z0), s)
   | Var x -> ((find0 x c), s)
   | Sum l -> let (ms, s1) = list0 l s in ((sum_all ms), s1)
   | Scaled (k, b) -> let (m, s1) = linear c b s in ((times k m), s1)
   | FloorDiv (b, d) -> let (m, s1) = linear c b s in quotient m d s1
   | TruncDiv (b, d) -> let (m, s1) = linear c b s in truncated m d s1
   | Rem (b, d) ->
     let (m, s1) = linear c b s in
     let (q, s2) = truncated m d s1 in ((minus m (times (Zpos d) q)), s2)
   | Min l -> let (ms, s1) = list0 l s in least ms s1
   | Max l -> let (ms, s1) = list0 l s in greatest ms s1
   | Select (t, b, b') ->
     let (yes, s1) = literal c true t s in
     let (no, s2) = literal c false t s1 in
     let (m, s3) = linear c b s2 in
     let (m', s4) = linear c b' s3 in
     let (x, s5) = fresh s4 in
     (x,
     (assume
       (either
         ((both (yes :: ((zero (minus x m)) :: []))) :: ((both
                                                           (no :: ((zero
                                                                    (minus x
                                                                    m')) :: []))) :: [])))
       s5)))

(** val literal : scope -> bool -> test -> state -> fact * state **)

and literal c b t s =
  let list0 =
    let rec list0 l s0 =
      match l with
      | [] -> ([], s0)
      | t0 :: l' ->
        let (f, s1) = literal c b t0 s0 in
        let (fs, s2) = list0 l' s1 in ((f :: fs), s2)
    in list0
  in
  (match t with
   | Compare (r, x, y) ->
     let (l, s1) = linear c x s in
     let (m, s2) = linear c y s1 in
     ((compared (if b then r else opposite r) l m), s2)
   | And l ->
     let (fs, s1) = list0 l s in ((if b then both fs else either fs), s1)
   | Or l ->
     let (fs, s1) = list0 l s in ((if b then either fs else both fs), s1)
   | Not u -> literal c (negb b) u s)

(** val linear_list : scope -> expr list -> state -> lin list * state **)

let rec linear_list c l s =
  match l with
  | [] -> ([], s)
  | a :: l' ->
    let (m, s1) = linear c a s in
    let (ms, s2) = linear_list c l' s1 in ((m :: ms), s2)

(** val on_right : relation -> expr -> expr -> test **)

let rec on_right r a b = match b with
| Min arguments0 ->
  (match arguments0 with
   | [] -> Compare (r, a, b)
   | b' :: l -> And ((on_right r a b') :: (map (on_right r a) l)))
| Max arguments0 ->
  (match arguments0 with
   | [] -> Compare (r, a, b)
   | b' :: l -> Or ((on_right r a b') :: (map (on_right r a) l)))
| _ -> Compare (r, a, b)

(** val on_left : relation -> expr -> expr -> test **)

let rec on_left r b a = match a with
| Min arguments0 ->
  (match arguments0 with
   | [] -> on_right r a b
   | a' :: l -> Or ((on_left r b a') :: (map (on_left r b) l)))
| Max arguments0 ->
  (match arguments0 with
   | [] -> on_right r a b
   | a' :: l -> And ((on_left r b a') :: (map (on_left r b) l)))
| _ -> on_right r a b

(** val expanded : test -> test **)

let rec expanded = function
| Compare (r, a, b) ->
  (match r with
   | EQ -> Compare (r, a, b)
   | NE -> Compare (r, a, b)
   | GE -> on_left LE a b
   | GT -> on_left LT a b
   | x -> on_left x b a)
| And l -> And (map expanded l)
| Or l -> Or (map expanded l)
| Not u -> Not (expanded u)

(** val known : scope -> bool -> test -> state -> fact * state **)

let known c b t s =
  literal c b (expanded t) s

(** val maxima : expr -> expr list **)

let rec maxima a = match a with
| Max arguments0 ->
  (match arguments0 with
   | [] -> a :: []
   | a' :: l -> app (maxima a') (flat_map maxima l))
| _ -> a :: []

(** val start_below :
    bool -> scope -> lin -> expr -> state -> fact * state **)

let start_below b c l a s =
  let (ms, s1) = linear_list c (maxima a) s in
  ((if b
    then both (map (fun m -> at_most m l) ms)
    else either (map (less l) ms)), s1)

type shape = { shape_name : string; shape_arguments : string list;
               shape_hints : string list; shape_domain : test;
               shape_time : expr list }

type specification = { sizes : string list; assumption : test;
                       shapes : shape list }

(** val find_shape : shape list -> string -> nat -> nat -> shape option **)

let rec find_shape l f n0 m =
  match l with
  | [] -> None
  | h :: l' ->
    if (&&)
         ((&&) (eqb1 f h.shape_name) (Nat.eqb n0 (length h.shape_arguments)))
         (Nat.eqb m (length h.shape_hints))
    then Some h
    else find_shape l' f n0 m

type goal = fact list

(** val unfit : goal list **)

let unfit =
  [] :: []

(** val exclude : fact -> state -> goal **)

let exclude f s =
  push f s.facts

(** val not_strictly : lin list -> lin list -> fact **)

let rec not_strictly a b =
  match a with
  | [] -> always
  | x :: a' ->
    (match b with
     | [] -> always
     | y :: b' ->
       either
         ((less y x) :: ((both
                           ((zero (minus x y)) :: ((not_strictly a' b') :: []))) :: [])))

(** val earlier : lin list -> lin list -> fact **)

let rec earlier a b =
  match a with
  | [] -> (match b with
           | [] -> never
           | _ :: _ -> always)
  | x :: a' ->
    (match b with
     | [] -> never
     | y :: b' ->
       either
         ((less x y) :: ((both
                           ((zero (minus x y)) :: ((earlier a' b') :: []))) :: [])))

(** val not_earlier : lin list -> lin list -> fact **)

let rec not_earlier a b =
  match a with
  | [] -> (match b with
           | [] -> always
           | _ :: _ -> never)
  | x :: a' ->
    (match b with
     | [] -> always
     | y :: b' ->
       either
         ((less y x) :: ((both
                           ((zero (minus x y)) :: ((not_earlier a' b') :: []))) :: [])))

(** val not_starting : lin list -> lin list -> fact **)

let rec not_starting a t =
  match a with
  | [] -> never
  | x :: a' ->
    (match t with
     | [] -> always
     | y :: t' -> either ((differ x y) :: ((not_starting a' t') :: [])))

type bound =
| From of lin list
| Until of lin list

(** val violated : lin list -> bound -> fact **)

let violated t = function
| From l -> earlier t l
| Until l -> not_earlier t l

(** val mentions : string -> expr -> bool **)

let rec mentions x = function
| Int _ -> false
| Var y -> eqb1 x y
| Sum l -> existsb (mentions x) l
| Scaled (_, b) -> mentions x b
| FloorDiv (b, _) -> mentions x b
| TruncDiv (b, _) -> mentions x b
| Rem (b, _) -> mentions x b
| Min l -> existsb (mentions x) l
| Max l -> existsb (mentions x) l
| Select (t, b, c) ->
  (||) ((||) (test_mentions x t) (mentions x b)) (mentions x c)

(** val test_mentions : string -> test -> bool **)

and test_mentions x = function
| Compare (_, a, b) -> (||) (mentions x a) (mentions x b)
| And l -> existsb (test_mentions x) l
| Or l -> existsb (test_mentions x) l
| Not u -> test_mentions x u

(** val is_name : string -> expr -> bool **)

let is_name x = function
| Var y -> eqb1 x y
| _ -> false

(** val falls : string -> test -> bool **)

let rec falls x = function
| Compare (r, b, a) ->
  (match r with
   | EQ -> false
   | NE -> false
   | LE -> (&&) (is_name x b) (negb (mentions x a))
   | LT -> (&&) (is_name x b) (negb (mentions x a))
   | _ -> (&&) (is_name x a) (negb (mentions x b)))
| And l ->
  (&&) (forallb (fun t0 -> (||) (falls x t0) (negb (test_mentions x t0))) l)
    (existsb (falls x) l)
| Or l -> forallb (falls x) l
| Not _ -> false

(** val stride : scope -> expr -> lin -> positive -> state -> state **)

let stride c a x d s =
  if Coq_Pos.eqb d XH
  then let (f, s1) = start_below true c x a s in assume f s1
  else let (first, s1) = linear c a s in
       let (k, s2) = fresh s1 in
       assume
         (both
           ((above k) :: ((zero (minus (minus x first) (times (Zpos d) k))) :: [])))
         s2

(** val ending :
    scope -> string -> expr -> test -> positive -> expr option -> state ->
    goal list **)

let ending c x first t d last s =
  match last with
  | Some a ->
    let (v, s1) = fresh s in
    let (w, s2) = fresh s1 in
    let s3 = assume (at_most v w) (stride c first w d (stride c first v d s2))
    in
    let (f, s4) = known ((x, w) :: c) true t s3 in
    let (g, s5) = known ((x, v) :: c) false t (assume f s4) in
    let (f', s4') = known ((x, v) :: c) true t s1 in
    let (l, s5') = linear c a s4' in
    (exclude g s5) :: ((exclude (less l v) (assume f' s5')) :: [])
  | None -> if falls x t then [] else unfit

type execution = { executed_shape : shape option; executed_scope : scope;
                   executed_time : lin list; executed_state : state }

(** val in_loop :
    scope -> string -> expr -> lin -> test -> positive -> state -> state **)

let in_loop c x a v t d s =
  let (f, s1) = known ((x, v) :: c) true t (stride c a v d s) in assume f s1

(** val call_executions :
    shape list -> scope -> scope -> state -> string -> expr list -> expr list
    -> execution list **)

let call_executions l sizes_scope c s f args hint =
  match find_shape l f (length args) (length hint) with
  | Some h ->
    let (xs, s1) = linear_list c args s in
    let (ys, s2) = linear_list c hint s1 in
    let inner =
      app (combine h.shape_arguments xs)
        (app (combine h.shape_hints ys) sizes_scope)
    in
    let (t, s3) = linear_list inner h.shape_time s2 in
    { executed_shape = (Some h); executed_scope = inner; executed_time = t;
    executed_state = s3 } :: []
  | None ->
    { executed_shape = None; executed_scope = []; executed_time = [];
      executed_state = s } :: []

(** val executions :
    shape list -> scope -> scope -> state -> node -> execution list **)

let rec executions l sizes_scope c s = function
| Call (f, args, hint) -> call_executions l sizes_scope c s f args hint
| Block ns -> flat_map (executions l sizes_scope c s) ns
| If (t, a, b) ->
  let (f, s1) = known c true t s in
  let (f', s1') = known c false t s in
  app (executions l sizes_scope c (assume f s1) a)
    (executions l sizes_scope c (assume f' s1') b)
| For (x, a, t, d, b) ->
  let (v, s1) = fresh s in
  executions l sizes_scope ((x, v) :: c) (in_loop c x a v t d s1) b
| Let (x, a, b) ->
  let (m, s1) = linear c a s in executions l sizes_scope ((x, m) :: c) s1 b
| Mark (_, b) -> executions l sizes_scope c s b

(** val pairs_in_time :
    execution list -> (state -> execution list) -> goal list **)

let pairs_in_time first second =
  flat_map (fun r ->
    map (fun q ->
      exclude (not_earlier r.executed_time q.executed_time) q.executed_state)
      (second r.executed_state)) first

type guide =
| AtCall
| Into of guide
| Either_way of guide * guide
| Along of expr option * expr list * guide
| Around of expr option * expr list * guide
| Crossed of expr option * guide
| Numbered of (expr list * guide) list
| Parted of expr list list * guide list
| Compared of guide list

(** val call_goals :
    shape list -> scope -> scope -> state -> lin list -> bound list -> string
    -> expr list -> expr list -> goal list **)

let call_goals l sizes_scope c s known_time bounds f args hint =
  match find_shape l f (length args) (length hint) with
  | Some h ->
    let (xs, s1) = linear_list c args s in
    let (ys, s2) = linear_list c hint s1 in
    let inner =
      app (combine h.shape_arguments xs)
        (app (combine h.shape_hints ys) sizes_scope)
    in
    let (outside0, s3) = known inner false h.shape_domain s2 in
    let (t, s4) = linear_list inner h.shape_time s3 in
    (exclude
      (either
        (outside0 :: ((not_starting known_time t) :: (map (violated t) bounds))))
      s4) :: []
  | None -> unfit

(** val walk :
    shape list -> scope -> guide -> scope -> state -> lin list -> bound list
    -> node -> goal list **)

let walk l sizes_scope =
  let reaching = executions l sizes_scope in
  let rec walk0 g c s known_time bounds = function
  | Call (f, args, hint) ->
    (match g with
     | AtCall -> call_goals l sizes_scope c s known_time bounds f args hint
     | _ -> unfit)
  | Block ns ->
    (match g with
     | AtCall -> (match ns with
                  | [] -> []
                  | _ :: _ -> unfit)
     | Numbered gs ->
       let rec each previous gs0 ns0 s0 =
         match ns0 with
         | [] -> (match gs0 with
                  | [] -> []
                  | _ :: _ -> unfit)
         | n' :: ns' ->
           (match gs0 with
            | [] -> unfit
            | p :: gs' ->
              let (keys, g') = p in
              let (k, s1) = linear_list c keys s0 in
              app
                (match previous with
                 | Some p0 -> (exclude (not_strictly p0 k) s1) :: []
                 | None -> [])
                (app (walk0 g' c s1 (app known_time k) bounds n')
                  (each (Some k) gs' ns' s1)))
       in each None gs ns s
     | Parted (cuts, gs) ->
       let rec each low cuts0 gs0 ns0 s0 =
         match ns0 with
         | [] -> (match gs0 with
                  | [] -> []
                  | _ :: _ -> unfit)
         | n' :: ns' ->
           (match gs0 with
            | [] -> unfit
            | g' :: gs' ->
              (match cuts0 with
               | [] ->
                 (match ns' with
                  | [] -> walk0 g' c s0 known_time ((From low) :: bounds) n'
                  | _ :: _ -> unfit)
               | keys :: cuts' ->
                 let (k, s1) = linear_list c keys s0 in
                 let cut = app known_time k in
                 (exclude (earlier cut low) s1) :: (app
                                                     (walk0 g' c s1
                                                       known_time ((From
                                                       low) :: ((Until
                                                       cut) :: bounds)) n')
                                                     (each cut cuts' gs' ns'
                                                       s1))))
       in each [] cuts gs ns s
     | Compared gs ->
       let rec each gs0 = function
       | [] -> (match gs0 with
                | [] -> []
                | _ :: _ -> unfit)
       | n' :: ns' ->
         (match gs0 with
          | [] -> unfit
          | g' :: gs' ->
            app (walk0 g' c s known_time bounds n')
              (app
                (pairs_in_time (reaching c s n') (fun s' ->
                  flat_map (reaching c s') ns')) (each gs' ns')))
       in each gs ns
     | _ -> unfit)
  | If (t, a, b) ->
    (match g with
     | Either_way (yes, no) ->
       let (f, s1) = known c true t s in
       let (f', s1') = known c false t s in
       app (walk0 yes c (assume f s1) known_time bounds a)
         (walk0 no c (assume f' s1') known_time bounds b)
     | _ -> unfit)
  | For (x, a, t, d, b) ->
    let (v, s2) = fresh s in
    let c' = (x, v) :: c in
    let s4 = in_loop c x a v t d s2 in
    (match g with
     | Along (last, keys, g') ->
       let (k, s5) = linear_list c' keys s4 in
       let (w, s3') = fresh s2 in
       let (k1, s4') = linear_list c' keys (assume (less v w) s3') in
       let (k2, s5') = linear_list ((x, w) :: c) keys s4' in
       app (ending c x a t d last s)
         ((exclude (not_strictly k1 k2) s5') :: (walk0 g' c' s5
                                                  (app known_time k) bounds b))
     | Around (last, keys, g') ->
       let next_scope = (x, (plus v (number (Zpos d)))) :: c in
       let (k1, s5) = linear_list c' keys s4 in
       let (k2, s6) = linear_list next_scope keys s5 in
       let (w, s3') = fresh s2 in
       let (k1', s4') =
         linear_list ((x, w) :: c) keys
           (assume (at_most (plus v (number (Zpos d))) w) s3')
       in
       let (k2', s5') = linear_list next_scope keys s4' in
       app (ending c x a t d last s)
         ((exclude (earlier k1' k2') s5') :: (walk0 g' c' s6 known_time
                                               ((From
                                               (app known_time k1)) :: ((Until
                                               (app known_time k2)) :: bounds))
                                               b))
     | Crossed (last, g') ->
       let (w, s5) = fresh s4 in
       let s6 = in_loop c x a w t d (assume (less v w) s5) in
       app (ending c x a t d last s)
         (app
           (pairs_in_time (reaching c' s6 b) (fun s' ->
             reaching ((x, w) :: c) s' b))
           (walk0 g' c' s4 known_time bounds b))
     | _ -> unfit)
  | Let (x, a, b) ->
    (match g with
     | Into g' ->
       let (m, s1) = linear c a s in
       walk0 g' ((x, m) :: c) s1 known_time bounds b
     | _ -> unfit)
  | Mark (_, b) ->
    (match g with
     | Into g' -> walk0 g' c s known_time bounds b
     | _ -> unfit)
  in walk0

type turn =
| ToChild of nat
| ToIteration of expr
| ToYes
| ToNo
| ToInside

type cover = turn list list

(** val apart : lin list -> lin list -> fact **)

let rec apart a b =
  match a with
  | [] -> (match b with
           | [] -> never
           | _ :: _ -> always)
  | x :: a' ->
    (match b with
     | [] -> always
     | y :: b' -> either ((differ x y) :: ((apart a' b') :: [])))

(** val off_stride :
    scope -> expr -> lin -> positive -> state -> fact * state **)

let off_stride c a x d s =
  if Coq_Pos.eqb d XH
  then start_below false c x a s
  else let (first, s1) = linear c a s in
       let distance = minus x first in
       let (q, s2) = quotient (Z0, (snd distance)) d s1 in
       let steps0 =
         plus (number (Z.opp (Z.div (Z.opp (fst distance)) (Zpos d)))) q
       in
       ((either
          ((less steps0 (number Z0)) :: ((differ distance
                                           (times (Zpos d) steps0)) :: []))),
       s2)

(** val astray :
    turn list -> scope -> scope -> state -> node -> string -> lin list -> lin
    list -> (fact list * state) option **)

let rec astray path i c s n0 f xs ys =
  match path with
  | [] ->
    (match n0 with
     | Call (g, args, hint) ->
       if eqb1 f g
       then let (l, s1) = linear_list c args s in
            let (m, s2) = linear_list c hint s1 in
            Some (((apart xs l) :: ((apart ys m) :: [])), s2)
       else None
     | _ -> None)
  | t0 :: path' ->
    (match t0 with
     | ToChild k ->
       (match n0 with
        | Block cs ->
          (match nth_error cs k with
           | Some n' -> astray path' i c s n' f xs ys
           | None -> None)
        | _ -> None)
     | ToIteration a ->
       (match n0 with
        | For (x, b, t, d, n') ->
          let (v, s1) = linear i a s in
          let (off, s3) = off_stride c b v d s1 in
          let (no, s4) = known ((x, v) :: c) false t s3 in
          (match astray path' i ((x, v) :: c) s4 n' f xs ys with
           | Some p -> let (fs, s5) = p in Some ((off :: (no :: fs)), s5)
           | None -> None)
        | _ -> None)
     | ToYes ->
       (match n0 with
        | If (t, a, _) ->
          let (no, s1) = known c false t s in
          (match astray path' i c s1 a f xs ys with
           | Some p -> let (fs, s2) = p in Some ((no :: fs), s2)
           | None -> None)
        | _ -> None)
     | ToNo ->
       (match n0 with
        | If (t, _, b) ->
          let (yes, s1) = known c true t s in
          (match astray path' i c s1 b f xs ys with
           | Some p -> let (fs, s2) = p in Some ((yes :: fs), s2)
           | None -> None)
        | _ -> None)
     | ToInside ->
       (match n0 with
        | Let (x, a, b) ->
          let (m, s1) = linear c a s in
          astray path' i ((x, m) :: c) s1 b f xs ys
        | Mark (_, b) -> astray path' i c s b f xs ys
        | _ -> None))

(** val all_astray :
    cover -> scope -> scope -> state -> node -> string -> lin list -> lin
    list -> (fact list * state) option **)

let rec all_astray k i c s n0 f xs ys =
  match k with
  | [] -> Some ([], s)
  | path :: k' ->
    (match astray path i c s n0 f xs ys with
     | Some p ->
       let (fs, s1) = p in
       (match all_astray k' i c s1 n0 f xs ys with
        | Some p0 -> let (gs, s2) = p0 in Some (((either fs) :: gs), s2)
        | None -> None)
     | None -> None)

(** val cover_goals :
    cover -> scope -> scope -> state -> node -> string -> lin list -> lin
    list -> goal list **)

let cover_goals k i c s n0 f xs ys =
  match all_astray k i c s n0 f xs ys with
  | Some p -> let (gs, s') = p in (exclude (both gs) s') :: []
  | None -> unfit

(** val fresh_list : string list -> state -> lin list * state **)

let rec fresh_list names s =
  match names with
  | [] -> ([], s)
  | _ :: names' ->
    let (l, s1) = fresh s in
    let (ls, s2) = fresh_list names' s1 in ((l :: ls), s2)

(** val some_instance :
    shape -> scope -> state -> ((lin list * lin list) * scope) * state **)

let some_instance h sizes_scope s =
  let (xs, s1) = fresh_list h.shape_arguments s in
  let (ys, s2) = fresh_list h.shape_hints s1 in
  let i =
    app (combine h.shape_arguments xs)
      (app (combine h.shape_hints ys) sizes_scope)
  in
  let (inside, s3) = known i true h.shape_domain s2 in
  (((xs, ys), i), (assume inside s3))

(** val shape_goals :
    scope -> state -> node -> shape -> cover -> goal list **)

let shape_goals sizes_scope s n0 h k =
  let (p, s') = some_instance h sizes_scope s in
  let (p0, i) = p in
  let (xs, ys) = p0 in cover_goals k i sizes_scope s' n0 h.shape_name xs ys

(** val covers_goals :
    scope -> state -> node -> shape list -> cover list -> goal list **)

let rec covers_goals sizes_scope s n0 hs ks =
  match hs with
  | [] -> (match ks with
           | [] -> []
           | _ :: _ -> unfit)
  | h :: hs' ->
    (match ks with
     | [] -> unfit
     | k :: ks' ->
       app (shape_goals sizes_scope s n0 h k)
         (covers_goals sizes_scope s n0 hs' ks'))

(** val refutes_all : certificate list -> goal list -> bool **)

let rec refutes_all cs gs =
  match cs with
  | [] -> (match gs with
           | [] -> true
           | _ :: _ -> false)
  | c :: cs' ->
    (match gs with
     | [] -> false
     | g :: gs' -> (&&) (refutes c g) (refutes_all cs' gs'))

(** val beginning : specification -> scope * state **)

let beginning g =
  let (ps, s0) = fresh_list g.sizes { next = O; quotients = []; facts = [] }
  in
  let c = combine g.sizes ps in
  let (f, s1) = known c true g.assumption s0 in (c, (assume f s1))

(** val with_time : shape -> expr list -> shape **)

let with_time h t =
  { shape_name = h.shape_name; shape_arguments = h.shape_arguments;
    shape_hints = h.shape_hints; shape_domain = h.shape_domain; shape_time =
    t }

(** val retimed :
    (shape -> expr list -> expr list) -> shape list -> expr list list ->
    shape list **)

let rec retimed f hs ts =
  match hs with
  | [] -> hs
  | h :: hs' ->
    (match ts with
     | [] -> hs
     | t :: ts' -> (with_time h (f h t)) :: (retimed f hs' ts'))

(** val untied : shape list -> expr list list -> shape list **)

let untied =
  retimed (fun h t -> app h.shape_time t)

(** val same_width : shape list -> bool **)

let same_width = function
| [] -> true
| h :: hs' ->
  forallb (fun g -> Nat.eqb (length g.shape_time) (length h.shape_time)) hs'

type proposal = { order : guide; covered : cover list; ties : expr list list }

(** val goals : specification -> node -> proposal -> goal list **)

let goals g n0 how =
  let (c, s) = beginning g in
  app (walk (untied g.shapes how.ties) c how.order c s [] [] n0)
    (covers_goals c s n0 g.shapes how.covered)

(** val closed_shape : string list -> shape -> bool **)

let closed_shape names h =
  let own0 = app h.shape_arguments (app h.shape_hints names) in
  (&&) (closed_test own0 h.shape_domain)
    (forallb (closed_expr own0) h.shape_time)

(** val closed_specification : specification -> bool **)

let closed_specification g =
  (&&) (closed_test g.sizes g.assumption)
    (forallb (closed_shape g.sizes) g.shapes)

(** val well_formed : specification -> node -> bool **)

let well_formed g n0 =
  (&&) ((&&) (closed_specification g) (closed g.sizes n0))
    (same_width g.shapes)

(** val check :
    specification -> node -> proposal -> certificate list -> bool **)

let check g n0 how cs =
  (&&) (well_formed g n0) (refutes_all cs (goals g n0 how))

(** val parallel : string **)

let parallel =
  String ((Ascii (false, false, false, false, true, true, true, false)),
    (String ((Ascii (true, false, false, false, false, true, true, false)),
    (String ((Ascii (false, true, false, false, true, true, true, false)),
    (String ((Ascii (true, false, false, false, false, true, true, false)),
    (String ((Ascii (false, false, true, true, false, true, true, false)),
    (String ((Ascii (false, false, true, true, false, true, true, false)),
    (String ((Ascii (true, false, true, false, false, true, true, false)),
    (String ((Ascii (false, false, true, true, false, true, true, false)),
    EmptyString)))))))))))))))

type place = string * expr list

type use = { may_read : place list; may_write : place list;
             combined_by : string option }

type change = { original : specification; new_times : expr list list;
                uses : use list }

(** val changed : change -> specification **)

let changed t =
  { sizes = t.original.sizes; assumption = t.original.assumption; shapes =
    (retimed (fun _ t0 -> t0) t.original.shapes t.new_times) }

(** val distinct : shape list -> bool **)

let rec distinct = function
| [] -> true
| h :: hs' ->
  (&&)
    ((&&) (negb (existsb (fun g -> eqb1 h.shape_name g.shape_name) hs'))
      (match h.shape_hints with
       | [] -> true
       | _ :: _ -> false)) (distinct hs')

(** val common_places :
    place list -> place list -> (expr list * expr list) list **)

let common_places l m =
  flat_map (fun c ->
    flat_map (fun d ->
      if eqb1 (fst c) (fst d) then ((snd c), (snd d)) :: [] else []) m) l

(** val same_operator : use -> use -> bool **)

let same_operator u v =
  match u.combined_by with
  | Some k -> (match v.combined_by with
               | Some k' -> eqb1 k k'
               | None -> false)
  | None -> false

(** val common_uses : use -> use -> (expr list * expr list) list **)

let common_uses u v =
  app
    (if same_operator u v then [] else common_places u.may_write v.may_write)
    (app (common_places u.may_write v.may_read)
      (common_places u.may_read v.may_write))

(** val same_place : lin list -> lin list -> fact **)

let rec same_place a b =
  match a with
  | [] -> (match b with
           | [] -> always
           | _ :: _ -> never)
  | x :: a' ->
    (match b with
     | [] -> never
     | y :: b' -> both ((zero (minus x y)) :: ((same_place a' b') :: [])))

(** val meeting_facts :
    scope -> scope -> (expr list * expr list) list -> state -> fact
    list * state **)

let rec meeting_facts i j l s =
  match l with
  | [] -> ([], s)
  | p :: l' ->
    let (a, b) = p in
    let (x, s1) = linear_list i a s in
    let (y, s2) = linear_list j b s1 in
    let (fs, s3) = meeting_facts i j l' s2 in (((same_place x y) :: fs), s3)

(** val pair_goals :
    scope -> state -> ((shape * expr list) * use) -> ((shape * expr
    list) * use) -> goal list **)

let pair_goals c s one other =
  let (p, u) = one in
  let (h, t) = p in
  let (p0, u') = other in
  let (h', t') = p0 in
  (match common_uses u u' with
   | [] -> []
   | p1 :: l ->
     let (p2, s1) = some_instance h c s in
     let (_, i) = p2 in
     let (p3, s2) = some_instance h' c s1 in
     let (_, j) = p3 in
     let (fs, s3) = meeting_facts i j (p1 :: l) s2 in
     let (a, s4) = linear_list i h.shape_time s3 in
     let (b, s5) = linear_list j h'.shape_time s4 in
     let (a', s6) = linear_list i t s5 in
     let (b', s7) = linear_list j t' s6 in
     (exclude
       (both ((either fs) :: ((earlier a b) :: ((not_earlier a' b') :: []))))
       s7) :: [])

(** val parts : change -> ((shape * expr list) * use) list **)

let parts t =
  combine (combine t.original.shapes t.new_times) t.uses

(** val legality_goals : change -> goal list **)

let legality_goals t =
  let (c, s) = beginning t.original in
  flat_map (fun one -> flat_map (pair_goals c s one) (parts t)) (parts t)

(** val apart_goals : change -> execution -> execution -> goal list **)

let apart_goals t r q =
  let use_of = fun h ->
    find (fun hu -> eqb1 (fst hu).shape_name h.shape_name)
      (combine t.original.shapes t.uses)
  in
  (match r.executed_shape with
   | Some h ->
     (match q.executed_shape with
      | Some h' ->
        (match use_of h with
         | Some p ->
           let (_, u) = p in
           (match use_of h' with
            | Some p0 ->
              let (_, u') = p0 in
              (match common_uses u u' with
               | [] -> []
               | p1 :: l ->
                 let (fs, s) =
                   meeting_facts r.executed_scope q.executed_scope (p1 :: l)
                     q.executed_state
                 in
                 (exclude (either fs) s) :: [])
            | None -> unfit)
         | None -> unfit)
      | None -> unfit)
   | None -> unfit)

(** val loop_goals :
    change -> scope -> scope -> state -> node -> goal list **)

let loop_goals t sizes_scope c s = function
| For (x, a, t0, d, b) ->
  let (v, s1) = fresh s in
  let (w, s2) = fresh (in_loop c x a v t0 d s1) in
  let s3 = in_loop c x a w t0 d (assume (less v w) s2) in
  flat_map (fun r ->
    flat_map (apart_goals t r)
      (executions t.original.shapes sizes_scope ((x, w) :: c)
        r.executed_state b))
    (executions t.original.shapes sizes_scope ((x, v) :: c) s3 b)
| _ -> []

(** val independence_goals :
    change -> scope -> scope -> state -> node -> goal list **)

let rec independence_goals t sizes_scope c s = function
| Call (_, _, _) -> []
| Block ns -> flat_map (independence_goals t sizes_scope c s) ns
| If (t0, a, b) ->
  let (f, s1) = known c true t0 s in
  let (f', s1') = known c false t0 s in
  app (independence_goals t sizes_scope c (assume f s1) a)
    (independence_goals t sizes_scope c (assume f' s1') b)
| For (x, a, t0, d, b) ->
  let (v, s1) = fresh s in
  independence_goals t sizes_scope ((x, v) :: c) (in_loop c x a v t0 d s1) b
| Let (x, a, b) ->
  let (m, s1) = linear c a s in
  independence_goals t sizes_scope ((x, m) :: c) s1 b
| Mark (text, b) ->
  app (if eqb1 text parallel then loop_goals t sizes_scope c s b else [])
    (independence_goals t sizes_scope c s b)

(** val parallel_goals : change -> node -> goal list **)

let parallel_goals t n0 =
  let (c, s) = beginning t.original in independence_goals t c c s n0

(** val change_goals :
    change -> node -> node -> proposal -> proposal -> goal list **)

let change_goals t n0 n' how how' =
  app (goals t.original n0 how)
    (app (goals (changed t) n' how')
      (app (legality_goals t) (parallel_goals t n')))

(** val closed_use : string list -> (shape * use) -> bool **)

let closed_use names hu =
  let own0 = app (fst hu).shape_arguments names in
  let closed_place = fun c -> forallb (closed_expr own0) (snd c) in
  (&&) (forallb closed_place (snd hu).may_read)
    (forallb closed_place (snd hu).may_write)

(** val well_formed_change : change -> node -> node -> proposal -> bool **)

let well_formed_change t n0 n' how =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&) (well_formed t.original n0) (well_formed (changed t) n'))
            (distinct t.original.shapes))
          (Nat.eqb (length t.new_times) (length t.original.shapes)))
        (Nat.eqb (length t.uses) (length t.original.shapes)))
      (forallb (closed_use t.original.sizes)
        (combine t.original.shapes t.uses)))
    (match how.ties with
     | [] -> true
     | _ :: _ -> false)

(** val check_change :
    change -> node -> node -> proposal -> proposal -> certificate list -> bool **)

let check_change t n0 n' how how' cs =
  (&&) (well_formed_change t n0 n' how)
    (refutes_all cs (change_goals t n0 n' how how'))

type origin = { origin_statement : string; origin_arguments : expr list;
                origin_write : nat }

type storage = { temporaries : string list; tags : expr list list;
                 origins : origin list list }

(** val is_temporary : storage -> string -> bool **)

let is_temporary s x =
  existsb (eqb1 x) s.temporaries

type part = (shape * expr list) * use

(** val find_part : part list -> string -> part option **)

let find_part l f =
  find (fun p -> eqb1 f (fst (fst p)).shape_name) l

(** val all_parts : change -> storage -> part list **)

let all_parts t s =
  combine (combine t.original.shapes s.tags) t.uses

(** val own_place : storage -> expr list -> place -> place **)

let own_place s t c =
  if is_temporary s (fst c) then ((fst c), (app t (snd c))) else c

(** val own_use : storage -> (expr list * use) -> use **)

let own_use s tu =
  { may_read = (map (own_place s (fst tu)) (snd tu).may_read); may_write =
    (map (own_place s (fst tu)) (snd tu).may_write); combined_by =
    (snd tu).combined_by }

(** val with_copies : change -> storage -> change **)

let with_copies t s =
  { original = t.original; new_times = t.new_times; uses =
    (map (own_use s) (combine s.tags t.uses)) }

(** val linear_all :
    (scope * expr list) list -> state -> lin list list * state **)

let rec linear_all l s =
  match l with
  | [] -> ([], s)
  | p :: l' ->
    let (c, a) = p in
    let (m, s1) = linear_list c a s in
    let (ms, s2) = linear_all l' s1 in ((m :: ms), s2)

(** val origin_goals :
    part list -> scope -> state -> part -> place -> origin -> goal list **)

let origin_goals parts0 sizes_scope s one c o =
  let (p, _) = one in
  let (h, t) = p in
  (match find_part parts0 o.origin_statement with
   | Some p0 ->
     let (p1, ug) = p0 in
     let (g, tg) = p1 in
     (match nth_error ug.may_write o.origin_write with
      | Some p2 ->
        let (y, w) = p2 in
        if (&&) (eqb1 (fst c) y)
             (Nat.eqb (length o.origin_arguments) (length g.shape_arguments))
        then let (p3, s1) = some_instance h sizes_scope s in
             let (_, i) = p3 in
             let (xs, s2) = linear_list i o.origin_arguments s1 in
             let j = app (combine g.shape_arguments xs) sizes_scope in
             let (outside0, s3) = known j false g.shape_domain s2 in
             let (l, s4) =
               linear_all ((i, (snd c)) :: ((j, w) :: ((i,
                 h.shape_time) :: ((j, g.shape_time) :: ((i, t) :: ((j,
                 tg) :: [])))))) s3
             in
             (match l with
              | [] -> unfit
              | read :: l0 ->
                (match l0 with
                 | [] -> unfit
                 | written0 :: l1 ->
                   (match l1 with
                    | [] -> unfit
                    | now :: l2 ->
                      (match l2 with
                       | [] -> unfit
                       | before :: l3 ->
                         (match l3 with
                          | [] -> unfit
                          | here :: l4 ->
                            (match l4 with
                             | [] -> unfit
                             | there :: l5 ->
                               (match l5 with
                                | [] ->
                                  (exclude
                                    (either
                                      (outside0 :: ((apart read written0) :: (
                                      (not_earlier before now) :: ((apart
                                                                    there
                                                                    here) :: [])))))
                                    s4) :: (flat_map (fun p4 ->
                                             flat_map (fun c' ->
                                               if eqb1 (fst c') (fst c)
                                               then let (p5, s5) =
                                                      some_instance
                                                        (fst (fst p4))
                                                        sizes_scope s4
                                                    in
                                                    let (_, k) = p5 in
                                                    let (l6, s6) =
                                                      linear_all ((k,
                                                        (snd c')) :: ((k,
                                                        (fst (fst p4)).shape_time) :: ((k,
                                                        (snd (fst p4))) :: [])))
                                                        s5
                                                    in
                                                    (match l6 with
                                                     | [] -> unfit
                                                     | touched :: l7 ->
                                                       (match l7 with
                                                        | [] -> unfit
                                                        | between0 :: l8 ->
                                                          (match l8 with
                                                           | [] -> unfit
                                                           | other :: l9 ->
                                                             (match l9 with
                                                              | [] ->
                                                                (exclude
                                                                  (both
                                                                    (
                                                                    (same_place
                                                                    touched
                                                                    read) :: (
                                                                    (earlier
                                                                    before
                                                                    between0) :: (
                                                                    (earlier
                                                                    between0
                                                                    now) :: (
                                                                    (apart
                                                                    other
                                                                    here) :: [])))))
                                                                  s6) :: []
                                                              | _ :: _ ->
                                                                unfit))))
                                               else []) (snd p4).may_write)
                                             parts0)
                                | _ :: _ -> unfit)))))))
        else unfit
      | None -> unfit)
   | None -> unfit)

(** val origins_goals :
    part list -> scope -> state -> part -> place list -> origin list -> goal
    list **)

let rec origins_goals parts0 sizes_scope s one cs os =
  match cs with
  | [] -> (match os with
           | [] -> []
           | _ :: _ -> unfit)
  | c :: cs' ->
    (match os with
     | [] -> unfit
     | o :: os' ->
       app (origin_goals parts0 sizes_scope s one c o)
         (origins_goals parts0 sizes_scope s one cs' os'))

(** val not_begins : lin list -> lin list -> fact **)

let rec not_begins key t =
  match key with
  | [] -> either (map (differ (number Z0)) t)
  | a :: key' ->
    (match t with
     | [] -> always
     | b :: t' -> either ((differ a b) :: ((not_begins key' t') :: [])))

(** val tag_goals :
    part list -> scope -> nat -> bool -> lin list -> scope -> state -> node
    -> goal list **)

let rec tag_goals parts0 sizes_scope left0 marked way c s n0 =
  let inside = Nat.eqb left0 O in
  (match n0 with
   | Call (f, args, _) ->
     (match find_part parts0 f with
      | Some p ->
        let (p0, _) = p in
        let (h, t) = p0 in
        let (xs, s1) = linear_list c args s in
        let (m, s2) =
          linear_list (app (combine h.shape_arguments xs) sizes_scope) t s1
        in
        (exclude
          (not_begins (if inside then (number (Zpos XH)) :: way else []) m)
          s2) :: []
      | None -> unfit)
   | Block ns ->
     let rec each k = function
     | [] -> []
     | n' :: ns' ->
       app
         (tag_goals parts0 sizes_scope left0 false
           (if inside then way else app way ((number k) :: [])) c s n')
         (each (Z.add k (Zpos XH)) ns')
     in each Z0 ns
   | If (t, a, b) ->
     let (f, s1) = known c true t s in
     let (f', s1') = known c false t s in
     app (tag_goals parts0 sizes_scope left0 false way c (assume f s1) a)
       (tag_goals parts0 sizes_scope left0 false way c (assume f' s1') b)
   | For (x, a, t, d, b) ->
     let (v, s1) = fresh s in
     tag_goals parts0 sizes_scope (if marked then pred left0 else left0)
       false (if inside then way else app way (v :: [])) ((x, v) :: c)
       (in_loop c x a v t d s1) b
   | Let (x, a, b) ->
     let (m, s1) = linear c a s in
     tag_goals parts0 sizes_scope left0 false way ((x, m) :: c) s1 b
   | Mark (text, b) ->
     tag_goals parts0 sizes_scope left0 (eqb1 text parallel) way c s b)

(** val temporary_reads : storage -> use -> place list **)

let temporary_reads s u =
  filter (fun c -> is_temporary s (fst c)) u.may_read

(** val contained_goals :
    storage -> scope -> state -> part list -> part list -> origin list list
    -> goal list **)

let rec contained_goals s c s0 parts0 todo os =
  match todo with
  | [] -> (match os with
           | [] -> []
           | _ :: _ -> unfit)
  | p :: todo' ->
    (match os with
     | [] -> unfit
     | o :: os' ->
       app (origins_goals parts0 c s0 p (temporary_reads s (snd p)) o)
         (contained_goals s c s0 parts0 todo' os'))

(** val storage_goals : change -> nat -> storage -> node -> goal list **)

let storage_goals t k s n0 =
  let (c, s0) = beginning t.original in
  app (contained_goals s c s0 (all_parts t s) (all_parts t s) s.origins)
    (tag_goals (all_parts t s) c k false [] c s0 n0)

(** val with_all_copies : change -> (nat * storage) list -> change **)

let rec with_all_copies t = function
| [] -> t
| one :: ss' -> with_all_copies (with_copies t (snd one)) ss'

(** val all_storage_goals :
    change -> (nat * storage) list -> node -> goal list **)

let rec all_storage_goals t ss n0 =
  match ss with
  | [] -> []
  | p :: ss' ->
    let (k, one) = p in
    app (storage_goals t k one n0)
      (all_storage_goals (with_copies t one) ss' n0)

(** val same_lengths : expr list list -> bool **)

let same_lengths = function
| [] -> true
| t :: l' -> forallb (fun u -> Nat.eqb (length u) (length t)) l'

(** val private_goals :
    change -> (nat * storage) list -> node -> node -> proposal -> proposal ->
    goal list **)

let private_goals t ss n0 n' how how' =
  app (change_goals (with_all_copies t ss) n0 n' how how')
    (all_storage_goals t ss n')

(** val fitting : change -> storage -> bool **)

let fitting t s =
  (&&) (same_lengths s.tags)
    (Nat.eqb (length s.tags) (length t.original.shapes))

(** val check_private :
    change -> (nat * storage) list -> node -> node -> proposal -> proposal ->
    certificate list -> bool **)

let check_private t ss n0 n' how how' cs =
  (&&)
    ((&&)
      ((&&) (well_formed_change (with_all_copies t ss) n0 n' how)
        (forallb (fun kS -> fitting t (snd kS)) ss))
      (Nat.eqb (length t.uses) (length t.original.shapes)))
    (refutes_all cs (private_goals t ss n0 n' how how'))

(** val moved : change -> change **)

let moved t =
  { original = (changed t); new_times = t.new_times; uses = t.uses }

(** val reused_goals :
    change -> storage -> node -> node -> proposal -> proposal -> goal list **)

let reused_goals t s n0 n' how how' =
  let (c, s0) = beginning t.original in
  app (change_goals (with_copies t s) n0 n' how how')
    (app (contained_goals s c s0 (all_parts t s) (all_parts t s) s.origins)
      (contained_goals s c s0 (all_parts (moved t) s) (all_parts (moved t) s)
        s.origins))

(** val check_reused :
    change -> storage -> node -> node -> proposal -> proposal -> certificate
    list -> bool **)

let check_reused t s n0 n' how how' cs =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (well_formed_change (with_copies t s) n0 n' how)
            (same_lengths s.tags))
          (Nat.eqb (length s.tags) (length t.original.shapes)))
        (Nat.eqb (length t.uses) (length t.original.shapes)))
      (match how'.ties with
       | [] -> true
       | _ :: _ -> false)) (refutes_all cs (reused_goals t s n0 n' how how'))

type copy = { copied : place; copied_from : place; copied_to : place }

type seeing =
| Kept
| Since_beginning
| Written_by of origin

type cases = (test * seeing) list

type leaving = (string * string list) * cases

type stored = { written : specification; middle_times : expr list list;
                uses_before : use list; uses_after : use list;
                copying : shape list; copies : copy list;
                last_times : expr list list; replaced_arrays : string list;
                seen : cases list list; left : leaving list }

(** val is_kept : stored -> string -> bool **)

let is_kept u x =
  negb (existsb (eqb1 x) u.replaced_arrays)

(** val is_left : stored -> string -> bool **)

let is_left u x =
  existsb (fun one -> eqb1 x (fst (fst one))) u.left

(** val is_compared : stored -> string -> bool **)

let is_compared u x =
  (||) (is_kept u x) (is_left u x)

(** val all_shapes : stored -> shape list **)

let all_shapes u =
  app (retimed (fun _ t -> t) u.written.shapes u.middle_times) u.copying

(** val all_before : stored -> use list **)

let all_before u =
  app u.uses_before
    (map (fun c -> { may_read = (c.copied :: []); may_write =
      (c.copied :: []); combined_by = None }) u.copies)

(** val all_after : stored -> use list **)

let all_after u =
  app u.uses_after
    (map (fun c -> { may_read = (c.copied_from :: []); may_write =
      (c.copied_to :: []); combined_by = None }) u.copies)

(** val first_change : stored -> change **)

let first_change u =
  { original = u.written; new_times = u.middle_times; uses = u.uses_before }

(** val last_change : stored -> change **)

let last_change u =
  { original = { sizes = u.written.sizes; assumption = u.written.assumption;
    shapes = (all_shapes u) }; new_times = u.last_times; uses =
    (all_after u) }

(** val as_written : stored -> (shape * use) list **)

let as_written u =
  combine u.written.shapes u.uses_before

(** val as_stored : stored -> (shape * use) list **)

let as_stored u =
  combine (all_shapes u) (all_after u)

type piece = (shape * use) * use

(** val pieces : stored -> piece list **)

let pieces u =
  combine (combine (all_shapes u) (all_before u)) (all_after u)

(** val alike_goals :
    scope -> state -> shape -> place -> place -> goal list **)

let alike_goals sizes_scope s h c c' =
  if eqb1 (fst c) (fst c')
  then let (p, s1) = some_instance h sizes_scope s in
       let (_, i) = p in
       let (l, s2) = linear_all ((i, (snd c)) :: ((i, (snd c')) :: [])) s1 in
       (match l with
        | [] -> unfit
        | x :: l0 ->
          (match l0 with
           | [] -> unfit
           | y :: l1 ->
             (match l1 with
              | [] -> (exclude (apart x y) s2) :: []
              | _ :: _ -> unfit)))
  else unfit

(** val tie_goals : scope -> state -> shape -> shape -> goal list **)

let tie_goals sizes_scope s h h' =
  let (p, s1) = some_instance h sizes_scope s in
  let (p0, i) = p in
  let (x, _) = p0 in
  let (p1, s2) = some_instance h' sizes_scope s1 in
  let (p2, j) = p1 in
  let (y, _) = p2 in
  let (l, s3) =
    linear_all ((i, h.shape_time) :: ((j, h'.shape_time) :: [])) s2
  in
  (match l with
   | [] -> unfit
   | a :: l0 ->
     (match l0 with
      | [] -> unfit
      | b :: l1 ->
        (match l1 with
         | [] ->
           (exclude
             (both
               ((same_place a b) :: ((if eqb1 h.shape_name h'.shape_name
                                      then apart x y
                                      else always) :: []))) s3) :: []
         | _ :: _ -> unfit)))

(** val write_goals :
    (string -> bool) -> (shape -> bool) -> scope -> state -> piece -> goal
    list **)

let write_goals kept real sizes_scope s = function
| (p0, u') ->
  let (h, u) = p0 in
  if real h
  then flat_map (fun dd ->
         if (||) (kept (fst (fst dd))) (kept (fst (snd dd)))
         then alike_goals sizes_scope s h (fst dd) (snd dd)
         else []) (combine u.may_write u'.may_write)
  else []

(** val unlike : place -> place -> lin list -> lin list -> fact **)

let unlike d c x y =
  if eqb1 (fst d) (fst c) then apart x y else always

(** val within :
    lin list option -> lin list option -> lin list -> fact list **)

let within first last now =
  app (match first with
       | Some t -> (not_earlier now t) :: []
       | None -> [])
    (match last with
     | Some t -> (earlier now t) :: []
     | None -> [])

(** val together_goals :
    (shape -> bool) -> scope -> state -> place -> place -> lin list -> lin
    list -> lin list option -> lin list option -> piece -> goal list **)

let together_goals real sizes_scope s c c' x x' first last = function
| (p0, u') ->
  let (h, u) = p0 in
  flat_map (fun dd ->
    let (d, d') = dd in
    if (||) (eqb1 (fst d') (fst c')) ((&&) (real h) (eqb1 (fst d) (fst c)))
    then let (p1, s1) = some_instance h sizes_scope s in
         let (_, k) = p1 in
         let (l, s2) =
           linear_all ((k, (snd d)) :: ((k, (snd d')) :: ((k,
             h.shape_time) :: []))) s1
         in
         (match l with
          | [] -> unfit
          | y :: l0 ->
            (match l0 with
             | [] -> unfit
             | y' :: l1 ->
               (match l1 with
                | [] -> unfit
                | now :: l2 ->
                  (match l2 with
                   | [] ->
                     app
                       (if eqb1 (fst d') (fst c')
                        then (exclude
                               (both
                                 ((same_place y' x') :: ((unlike d c y x) :: 
                                 (within first last now)))) s2) :: []
                        else [])
                       (if (&&) (real h) (eqb1 (fst d) (fst c))
                        then (exclude
                               (both
                                 ((same_place y x) :: ((unlike d' c' y' x') :: 
                                 (within first last now)))) s2) :: []
                        else [])
                   | _ :: _ -> unfit))))
    else []) (combine u.may_write u'.may_write)

(** val find_piece : piece list -> string -> piece option **)

let find_piece all f =
  find (fun p -> eqb1 f (fst (fst p)).shape_name) all

(** val read_goals :
    (string -> bool) -> (string -> bool) -> (shape -> bool) -> piece list ->
    scope -> bool -> state -> shape -> place -> place -> seeing -> goal list **)

let read_goals kept begun0 real all sizes_scope ends s h c c' how =
  let until = fun last -> if ends then None else Some last in
  (match how with
   | Kept -> if kept (fst c) then alike_goals sizes_scope s h c c' else unfit
   | Since_beginning ->
     if (&&) (begun0 (fst c)) (eqb1 (fst c) (fst c'))
     then let (p, s1) = some_instance h sizes_scope s in
          let (_, i) = p in
          let (l, s2) =
            linear_all ((i, (snd c)) :: ((i, (snd c')) :: ((i,
              h.shape_time) :: []))) s1
          in
          (match l with
           | [] -> unfit
           | x :: l0 ->
             (match l0 with
              | [] -> unfit
              | x' :: l1 ->
                (match l1 with
                 | [] -> unfit
                 | last :: l2 ->
                   (match l2 with
                    | [] ->
                      (exclude (apart x x') s2) :: (flat_map
                                                     (together_goals real
                                                       sizes_scope s2 c c' x
                                                       x' None (until last))
                                                     all)
                    | _ :: _ -> unfit))))
     else unfit
   | Written_by o ->
     (match find_piece all o.origin_statement with
      | Some p ->
        let (p0, u') = p in
        let (g, u) = p0 in
        (match nth_error (combine u.may_write u'.may_write) o.origin_write with
         | Some p1 ->
           let (w, w') = p1 in
           if (&&) ((&&) (eqb1 (fst c) (fst w)) (eqb1 (fst c') (fst w')))
                (Nat.eqb (length o.origin_arguments)
                  (length g.shape_arguments))
           then let (p2, s1) = some_instance h sizes_scope s in
                let (_, i) = p2 in
                let (xs, s2) = linear_list i o.origin_arguments s1 in
                let j = app (combine g.shape_arguments xs) sizes_scope in
                let (outside0, s3) = known j false g.shape_domain s2 in
                let (l, s4) =
                  linear_all ((i, (snd c)) :: ((j, (snd w)) :: ((i,
                    (snd c')) :: ((j, (snd w')) :: ((j, g.shape_time) :: ((i,
                    h.shape_time) :: [])))))) s3
                in
                (match l with
                 | [] -> unfit
                 | x :: l0 ->
                   (match l0 with
                    | [] -> unfit
                    | y :: l1 ->
                      (match l1 with
                       | [] -> unfit
                       | x' :: l2 ->
                         (match l2 with
                          | [] -> unfit
                          | y' :: l3 ->
                            (match l3 with
                             | [] -> unfit
                             | first :: l4 ->
                               (match l4 with
                                | [] -> unfit
                                | last :: l5 ->
                                  (match l5 with
                                   | [] ->
                                     (exclude
                                       (either
                                         (app
                                           (outside0 :: ((apart x y) :: (
                                           (apart x' y') :: [])))
                                           (if ends
                                            then []
                                            else (not_earlier first last) :: [])))
                                       s4) :: (flat_map
                                                (together_goals real
                                                  sizes_scope s4 c c' x x'
                                                  (Some first) (until last))
                                                all)
                                   | _ :: _ -> unfit)))))))
           else unfit
         | None -> unfit)
      | None -> unfit))

(** val such_that : shape -> test -> shape **)

let such_that h t =
  { shape_name = h.shape_name; shape_arguments = h.shape_arguments;
    shape_hints = h.shape_hints; shape_domain = (And
    (h.shape_domain :: (t :: []))); shape_time = h.shape_time }

(** val cases_goals :
    (string -> bool) -> (string -> bool) -> (shape -> bool) -> piece list ->
    scope -> bool -> state -> shape -> place -> place -> cases -> goal list **)

let cases_goals kept begun0 real all sizes_scope ends s h c c' k =
  let (p, s1) = some_instance h sizes_scope s in
  let (_, i) = p in
  let (none, s2) = known i false (Or (map fst k)) s1 in
  (exclude none s2) :: (flat_map (fun one ->
                         read_goals kept begun0 real all sizes_scope ends s
                           (such_that h (fst one)) c c' (snd one)) k)

(** val reads_goals :
    (string -> bool) -> (string -> bool) -> (shape -> bool) -> piece list ->
    scope -> state -> shape -> (place * place) list -> cases list -> goal list **)

let rec reads_goals kept begun0 real all sizes_scope s h cs os =
  match cs with
  | [] -> (match os with
           | [] -> []
           | _ :: _ -> unfit)
  | c :: cs' ->
    (match os with
     | [] -> unfit
     | o :: os' ->
       app
         (cases_goals kept begun0 real all sizes_scope false s h (fst c)
           (snd c) o)
         (reads_goals kept begun0 real all sizes_scope s h cs' os'))

(** val all_reads_goals :
    (string -> bool) -> (string -> bool) -> (shape -> bool) -> piece list ->
    scope -> state -> piece list -> cases list list -> goal list **)

let rec all_reads_goals kept begun0 real all sizes_scope s ps os =
  match ps with
  | [] -> (match os with
           | [] -> []
           | _ :: _ -> unfit)
  | p :: ps' ->
    let (p0, u') = p in
    let (h, u) = p0 in
    (match os with
     | [] -> unfit
     | o :: os' ->
       app
         (reads_goals kept begun0 real all sizes_scope s h
           (combine u.may_read u'.may_read) o)
         (all_reads_goals kept begun0 real all sizes_scope s ps' os'))

(** val cells_of_array : leaving -> shape **)

let cells_of_array one =
  { shape_name = EmptyString; shape_arguments = (snd (fst one));
    shape_hints = []; shape_domain = (And []); shape_time = [] }

(** val cell_left : leaving -> place **)

let cell_left one =
  ((fst (fst one)), (map (fun x -> Var x) (snd (fst one))))

(** val left_goals :
    (string -> bool) -> (string -> bool) -> (shape -> bool) -> piece list ->
    scope -> state -> leaving -> goal list **)

let left_goals kept begun0 real all sizes_scope s one =
  cases_goals kept begun0 real all sizes_scope true s (cells_of_array one)
    (cell_left one) (cell_left one) (snd one)

(** val is_real : stored -> shape -> bool **)

let is_real u h =
  existsb (fun g -> eqb1 h.shape_name g.shape_name) u.written.shapes

(** val stored_goals :
    stored -> node -> node -> proposal -> proposal -> goal list **)

let stored_goals u n0 n' how how' =
  let t' = last_change u in
  let (c, s) = beginning t'.original in
  app (goals u.written n0 how)
    (app (goals (changed t') n' how')
      (app (legality_goals (first_change u))
        (app (legality_goals t')
          (app (parallel_goals t' n')
            (app
              (flat_map (fun h -> flat_map (tie_goals c s h) (all_shapes u))
                (all_shapes u))
              (app
                (flat_map (write_goals (is_kept u) (is_real u) c s)
                  (pieces u))
                (app
                  (all_reads_goals (is_kept u) (is_left u) (is_real u)
                    (pieces u) c s (pieces u) u.seen)
                  (flat_map
                    (left_goals (is_kept u) (is_left u) (is_real u)
                      (pieces u) c s) u.left))))))))

(** val paired : piece -> bool **)

let paired = function
| (p0, u') ->
  let (_, u) = p0 in
  (&&) (Nat.eqb (length u.may_read) (length u'.may_read))
    (Nat.eqb (length u.may_write) (length u'.may_write))

(** val fits_left : stored -> place -> bool **)

let fits_left u c =
  forallb (fun one ->
    (||) (negb (eqb1 (fst c) (fst (fst one))))
      (Nat.eqb (length (snd c)) (length (snd (fst one))))) u.left

(** val different : string list -> bool **)

let rec different = function
| [] -> true
| x :: l' -> (&&) (negb (existsb (eqb1 x) l')) (different l')

(** val uncombined : use -> bool **)

let uncombined u =
  match u.combined_by with
  | Some _ -> false
  | None -> true

(** val well_formed_stored : stored -> node -> node -> proposal -> bool **)

let well_formed_stored u n0 n' how =
  let g = (last_change u).original in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&)
            ((&&)
              ((&&)
                ((&&)
                  ((&&)
                    ((&&)
                      ((&&)
                        ((&&)
                          ((&&)
                            ((&&)
                              ((&&)
                                ((&&)
                                  ((&&)
                                    ((&&) (well_formed u.written n0)
                                      (well_formed (changed (last_change u))
                                        n')) (closed_specification g))
                                  (distinct (all_shapes u)))
                                (Nat.eqb (length u.middle_times)
                                  (length u.written.shapes)))
                              (Nat.eqb (length u.uses_before)
                                (length u.written.shapes)))
                            (Nat.eqb (length u.uses_after)
                              (length u.written.shapes)))
                          (Nat.eqb (length u.copies) (length u.copying)))
                        (Nat.eqb (length u.last_times)
                          (length (all_shapes u))))
                      (forallb (closed_use g.sizes)
                        (combine (all_shapes u) (all_before u))))
                    (forallb (closed_use g.sizes)
                      (combine (all_shapes u) (all_after u))))
                  (forallb (fun u0 -> forallb (fits_left u) u0.may_write)
                    (all_before u)))
                (forallb (fun u0 -> forallb (fits_left u) u0.may_write)
                  (all_after u)))
              (forallb (fun one -> different (snd (fst one))) u.left))
            (forallb paired (pieces u))) (forallb uncombined u.uses_before))
        (forallb uncombined u.uses_after))
      (forallb (fun c -> negb (is_kept u (fst c.copied_to))) u.copies))
    (match how.ties with
     | [] -> true
     | _ :: _ -> false)

(** val check_stored :
    stored -> node -> node -> proposal -> proposal -> certificate list -> bool **)

let check_stored u n0 n' how how' cs =
  (&&) (well_formed_stored u n0 n' how)
    (refutes_all cs (stored_goals u n0 n' how how'))

type counted =
| Calling of string * expr list * expr list
| Sequence of counted list
| Choice of test * counted * counted
| Counting of string * expr * test * z * counted
| Naming of string * expr * counted
| Remark of string * counted

(** val opposite0 : string -> string **)

let opposite0 x =
  append x (String ((Ascii (true, true, true, false, false, true, false,
    false)), EmptyString))

(** val turned : string -> string -> expr -> expr **)

let rec turned x y = function
| Int v -> Int v
| Var z0 -> if eqb1 z0 x then Scaled ((Zneg XH), (Var y)) else Var z0
| Sum l -> Sum (map (turned x y) l)
| Scaled (k, b) -> Scaled (k, (turned x y b))
| FloorDiv (b, d) -> FloorDiv ((turned x y b), d)
| TruncDiv (b, d) -> TruncDiv ((turned x y b), d)
| Rem (b, d) -> Rem ((turned x y b), d)
| Min l -> Min (map (turned x y) l)
| Max l -> Max (map (turned x y) l)
| Select (t, b, c) ->
  Select ((turned_test x y t), (turned x y b), (turned x y c))

(** val turned_test : string -> string -> test -> test **)

and turned_test x y = function
| Compare (r, a, b) -> Compare (r, (turned x y a), (turned x y b))
| And l -> And (map (turned_test x y) l)
| Or l -> Or (map (turned_test x y) l)
| Not u -> Not (turned_test x y u)

(** val lowered : counted -> node **)

let rec lowered = function
| Calling (f, args, hint) -> Call (f, args, hint)
| Sequence l -> Block (map lowered l)
| Choice (c, a, b) -> If (c, (lowered a), (lowered b))
| Counting (x, a, c, step, b) ->
  (match step with
   | Z0 -> Block []
   | Zpos s -> For (x, a, c, s, (lowered b))
   | Zneg s ->
     let y = opposite0 x in
     For (y, (Scaled ((Zneg XH), a)), (turned_test x y c), s, (Let (x,
     (Scaled ((Zneg XH), (Var y))), (lowered b)))))
| Naming (x, a, b) -> Let (x, a, (lowered b))
| Remark (text, b) -> Mark (text, (lowered b))

(** val proper : string list -> counted -> bool **)

let rec proper names = function
| Calling (_, args, hint) ->
  (&&) (forallb (closed_expr names) args) (forallb (closed_expr names) hint)
| Sequence l -> forallb (proper names) l
| Choice (c, a, b) ->
  (&&) ((&&) (closed_test names c) (proper names a)) (proper names b)
| Counting (x, a, c, s, b) ->
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (negb (Z.eqb s Z0))
            (negb (existsb (eqb1 (opposite0 x)) names)))
          (negb (eqb1 x (opposite0 x)))) (closed_expr names a))
      (closed_test (x :: names) c)) (proper (x :: names) b)
| Naming (x, a, b) -> (&&) (closed_expr names a) (proper (x :: names) b)
| Remark (_, b) -> proper names b

type token =
| Word of string
| Number of z * string
| Sign of string
| Directive of string
| Unread of string

(** val code : ascii -> z **)

let code c =
  Z.of_N (n_of_ascii c)

(** val at_most0 : ascii -> ascii -> bool **)

let at_most0 a b =
  let Ascii (a0, a1, a2, a3, a4, a5, a6, a7) = a in
  let Ascii (b0, b1, b2, b3, b4, b5, b6, b7) = b in
  if xorb a7 b7
  then b7
  else if xorb a6 b6
       then b6
       else if xorb a5 b5
            then b5
            else if xorb a4 b4
                 then b4
                 else if xorb a3 b3
                      then b3
                      else if xorb a2 b2
                           then b2
                           else if xorb a1 b1 then b1 else (||) (negb a0) b0

(** val between : ascii -> ascii -> ascii -> bool **)

let between low high c =
  (&&) (at_most0 low c) (at_most0 c high)

(** val is_digit : ascii -> bool **)

let is_digit =
  between (Ascii (false, false, false, false, true, true, false, false))
    (Ascii (true, false, false, true, true, true, false, false))

(** val is_letter : ascii -> bool **)

let is_letter c =
  (||)
    ((||)
      (between (Ascii (true, false, false, false, false, true, true, false))
        (Ascii (false, true, false, true, true, true, true, false)) c)
      (between (Ascii (true, false, false, false, false, false, true, false))
        (Ascii (false, true, false, true, true, false, true, false)) c))
    (eqb0 c (Ascii (true, true, true, true, true, false, true, false)))

(** val is_end_of_line : ascii -> bool **)

let is_end_of_line c =
  eqb0 c (Ascii (false, true, false, true, false, false, false, false))

(** val is_blank : ascii -> bool **)

let is_blank c =
  (||)
    (eqb0 c (Ascii (false, false, false, false, false, true, false, false)))
    (between (Ascii (true, false, false, true, false, false, false, false))
      (Ascii (true, false, true, true, false, false, false, false)) c)

(** val is_backslash : ascii -> bool **)

let is_backslash c =
  eqb0 c (Ascii (false, false, true, true, true, false, true, false))

(** val digit : ascii -> z **)

let digit c =
  Z.sub (code c) (Zpos (XO (XO (XO (XO (XI XH))))))

(** val pairs : string list **)

let pairs =
  (String ((Ascii (true, true, false, true, false, true, false, false)),
    (String ((Ascii (true, true, false, true, false, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (true, false, true, true, false,
    true, false, false)), (String ((Ascii (true, false, true, true, false,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (true, true,
    false, true, false, true, false, false)), (String ((Ascii (true, false,
    true, true, true, true, false, false)), EmptyString)))) :: ((String
    ((Ascii (true, false, true, true, false, true, false, false)), (String
    ((Ascii (true, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (false, true, false, true, false,
    true, false, false)), (String ((Ascii (true, false, true, true, true,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (true, true,
    true, true, false, true, false, false)), (String ((Ascii (true, false,
    true, true, true, true, false, false)), EmptyString)))) :: ((String
    ((Ascii (true, false, true, false, false, true, false, false)), (String
    ((Ascii (true, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (false, true, true, false, false,
    true, false, false)), (String ((Ascii (true, false, true, true, true,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (false, false,
    true, true, true, true, true, false)), (String ((Ascii (true, false,
    true, true, true, true, false, false)), EmptyString)))) :: ((String
    ((Ascii (false, true, true, true, true, false, true, false)), (String
    ((Ascii (true, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (false, false, true, true, true,
    true, false, false)), (String ((Ascii (true, false, true, true, true,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (false, true,
    true, true, true, true, false, false)), (String ((Ascii (true, false,
    true, true, true, true, false, false)), EmptyString)))) :: ((String
    ((Ascii (true, false, true, true, true, true, false, false)), (String
    ((Ascii (true, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (true, false, false, false, false,
    true, false, false)), (String ((Ascii (true, false, true, true, true,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (false, true,
    true, false, false, true, false, false)), (String ((Ascii (false, true,
    true, false, false, true, false, false)), EmptyString)))) :: ((String
    ((Ascii (false, false, true, true, true, true, true, false)), (String
    ((Ascii (false, false, true, true, true, true, true, false)),
    EmptyString)))) :: ((String ((Ascii (false, false, true, true, true,
    true, false, false)), (String ((Ascii (false, false, true, true, true,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (false, true,
    true, true, true, true, false, false)), (String ((Ascii (false, true,
    true, true, true, true, false, false)), EmptyString)))) :: ((String
    ((Ascii (true, false, true, true, false, true, false, false)), (String
    ((Ascii (false, true, true, true, true, true, false, false)),
    EmptyString)))) :: []))))))))))))))))))

type reading =
| Between
| InWord of string
| InNumber of string
| InSign of ascii
| InLine
| InComment of bool
| InDirective of string

(** val reversed : string -> string -> string **)

let rec reversed s so_far =
  match s with
  | EmptyString -> so_far
  | String (c, s') -> reversed s' (String (c, so_far))

(** val decimal : z -> string -> z option **)

let rec decimal value s = match s with
| EmptyString -> Some value
| String (c, s') ->
  if is_digit c
  then decimal (Z.add (Z.mul (Zpos (XO (XI (XO XH)))) value) (digit c)) s'
  else if (||)
            (eqb1 s (String ((Ascii (false, false, true, true, false, false,
              true, false)), EmptyString)))
            (eqb1 s (String ((Ascii (false, false, true, true, false, false,
              true, false)), (String ((Ascii (false, false, true, true,
              false, false, true, false)), EmptyString)))))
       then Some value
       else None

(** val number_token : string -> token **)

let number_token s =
  let plain =
    match s with
    | EmptyString -> true
    | String (c, s0) ->
      (match s0 with
       | EmptyString -> true
       | String (d, _) ->
         (||)
           (negb
             (eqb0 c (Ascii (false, false, false, false, true, true, false,
               false)))) (negb (is_digit d)))
  in
  (match decimal Z0 s with
   | Some value -> if plain then Number (value, s) else Unread s
   | None -> Unread s)

(** val finished : reading -> token list **)

let finished = function
| InWord s -> (Word (reversed s EmptyString)) :: []
| InNumber s -> (number_token (reversed s EmptyString)) :: []
| InSign c -> (Sign (String (c, EmptyString))) :: []
| InComment _ ->
  (Unread (String ((Ascii (true, true, true, true, false, true, false,
    false)), (String ((Ascii (false, true, false, true, false, true, false,
    false)), EmptyString))))) :: []
| InDirective s -> (Directive (reversed s EmptyString)) :: []
| _ -> []

(** val begun : ascii -> token list * reading **)

let begun c =
  if is_blank c
  then ([], Between)
  else if is_letter c
       then ([], (InWord (String (c, EmptyString))))
       else if is_digit c
            then ([], (InNumber (String (c, EmptyString))))
            else if eqb0 c (Ascii (true, true, false, false, false, true,
                      false, false))
                 then ([], (InDirective EmptyString))
                 else if (||)
                           ((||)
                             (eqb0 c (Ascii (false, true, false, false,
                               false, true, false, false)))
                             (eqb0 c (Ascii (true, true, true, false, false,
                               true, false, false)))) (is_backslash c)
                      then (((Unread (String (c, EmptyString))) :: []),
                             Between)
                      else ([], (InSign c))

(** val read_letter : reading -> ascii -> token list * reading **)

let read_letter r c =
  let next0 = fun _ -> let (ts, r') = begun c in ((app (finished r) ts), r')
  in
  (match r with
   | Between -> begun c
   | InWord s ->
     if (||) (is_letter c) (is_digit c)
     then ([], (InWord (String (c, s))))
     else next0 ()
   | InNumber s ->
     let exponent =
       match s with
       | EmptyString -> false
       | String (d, _) ->
         existsb (eqb0 d) ((Ascii (true, false, true, false, false, true,
           true, false)) :: ((Ascii (true, false, true, false, false, false,
           true, false)) :: ((Ascii (false, false, false, false, true, true,
           true, false)) :: ((Ascii (false, false, false, false, true, false,
           true, false)) :: []))))
     in
     if (||)
          ((||) ((||) (is_letter c) (is_digit c))
            (eqb0 c (Ascii (false, true, true, true, false, true, false,
              false))))
          ((&&) exponent
            ((||)
              (eqb0 c (Ascii (true, true, false, true, false, true, false,
                false)))
              (eqb0 c (Ascii (true, false, true, true, false, true, false,
                false)))))
     then ([], (InNumber (String (c, s))))
     else next0 ()
   | InSign a ->
     let both0 = String (a, (String (c, EmptyString))) in
     if eqb1 both0 (String ((Ascii (true, true, true, true, false, true,
          false, false)), (String ((Ascii (true, true, true, true, false,
          true, false, false)), EmptyString))))
     then ([], InLine)
     else if eqb1 both0 (String ((Ascii (true, true, true, true, false, true,
               false, false)), (String ((Ascii (false, true, false, true,
               false, true, false, false)), EmptyString))))
          then ([], (InComment false))
          else if existsb (eqb1 both0) pairs
               then (((Sign both0) :: []), Between)
               else next0 ()
   | InLine ->
     if is_end_of_line c
     then ([], Between)
     else if is_backslash c
          then (((Unread (String ((Ascii (false, false, true, true, true,
                 false, true, false)), EmptyString))) :: []), InLine)
          else ([], InLine)
   | InComment star ->
     if (&&) star
          (eqb0 c (Ascii (true, true, true, true, false, true, false, false)))
     then ([], Between)
     else ([], (InComment
            (eqb0 c (Ascii (false, true, false, true, false, true, false,
              false)))))
   | InDirective s ->
     if is_end_of_line c
     then ((finished r), Between)
     else if is_backslash c
          then (((Unread (String ((Ascii (false, false, true, true, true,
                 false, true, false)), EmptyString))) :: []), InLine)
          else ([], (InDirective (String (c, s)))))

(** val words_from : reading -> string -> token list **)

let rec words_from r = function
| EmptyString -> finished r
| String (c, s') ->
  let (ts, r') = read_letter r c in app ts (words_from r' s')

(** val words : string -> token list **)

let words =
  words_from Between

type term =
| Value of expr
| Truth of test

(** val value_of : term -> expr **)

let value_of = function
| Value a -> a
| Truth t -> Select (t, (Int (Zpos XH)), (Int Z0))

(** val truth_of : term -> test **)

let truth_of = function
| Value a ->
  (match a with
   | Int v -> if Z.eqb v Z0 then Or [] else And []
   | _ -> Compare (NE, a, (Int Z0)))
| Truth t -> t

(** val scaled : z -> expr -> expr **)

let scaled k a = match a with
| Int v ->
  if (||) (Z.eqb k Z0) (Z.eqb v Z0) then Scaled (k, a) else Int (Z.mul k v)
| _ -> Scaled (k, a)

(** val added : expr -> expr -> expr **)

let added a b =
  match a with
  | Sum l ->
    (match l with
     | [] -> Sum (a :: (b :: []))
     | _ :: l0 ->
       (match l0 with
        | [] -> Sum (a :: (b :: []))
        | _ :: _ -> Sum (app l (b :: []))))
  | _ -> Sum (a :: (b :: []))

(** val after_cast : token list -> token list option **)

let after_cast ts =
  let is_long =
    eqb1 (String ((Ascii (false, false, true, true, false, true, true,
      false)), (String ((Ascii (true, true, true, true, false, true, true,
      false)), (String ((Ascii (false, true, true, true, false, true, true,
      false)), (String ((Ascii (true, true, true, false, false, true, true,
      false)), EmptyString))))))))
  in
  (match ts with
   | [] -> None
   | t0 :: l ->
     (match t0 with
      | Word t ->
        (match l with
         | [] -> None
         | t1 :: rest ->
           (match t1 with
            | Word u ->
              (match rest with
               | [] -> None
               | t2 :: rest0 ->
                 (match t2 with
                  | Sign s ->
                    if (&&) ((&&) (is_long t) (is_long u))
                         (eqb1 s (String ((Ascii (true, false, false, true,
                           false, true, false, false)), EmptyString)))
                    then Some rest0
                    else None
                  | _ -> None))
            | Sign s ->
              if (&&) (is_long t)
                   (eqb1 s (String ((Ascii (true, false, false, true, false,
                     true, false, false)), EmptyString)))
              then Some rest
              else None
            | _ -> None))
      | _ -> None))

(** val applied : string -> term -> term -> term option **)

let applied sign m m' =
  let a = value_of m in
  let b = value_of m' in
  let compared0 = fun r -> Some (Truth (Compare (r, a, b))) in
  if eqb1 sign (String ((Ascii (true, true, false, true, false, true, false,
       false)), EmptyString))
  then Some (Value (added a b))
  else if eqb1 sign (String ((Ascii (true, false, true, true, false, true,
            false, false)), EmptyString))
       then Some (Value (added a (scaled (Zneg XH) b)))
       else if eqb1 sign (String ((Ascii (false, true, false, true, false,
                 true, false, false)), EmptyString))
            then (match a with
                  | Int k -> Some (Value (scaled k b))
                  | _ ->
                    (match b with
                     | Int k -> Some (Value (scaled k a))
                     | _ -> None))
            else if eqb1 sign (String ((Ascii (true, true, true, true, false,
                      true, false, false)), EmptyString))
                 then (match b with
                       | Int value ->
                         (match value with
                          | Zpos d -> Some (Value (TruncDiv (a, d)))
                          | _ -> None)
                       | _ -> None)
                 else if eqb1 sign (String ((Ascii (true, false, true, false,
                           false, true, false, false)), EmptyString))
                      then (match b with
                            | Int value ->
                              (match value with
                               | Zpos d -> Some (Value (Rem (a, d)))
                               | _ -> None)
                            | _ -> None)
                      else if eqb1 sign (String ((Ascii (false, false, true,
                                true, true, true, false, false)),
                                EmptyString))
                           then compared0 LT
                           else if eqb1 sign (String ((Ascii (false, false,
                                     true, true, true, true, false, false)),
                                     (String ((Ascii (true, false, true,
                                     true, true, true, false, false)),
                                     EmptyString))))
                                then compared0 LE
                                else if eqb1 sign (String ((Ascii (false,
                                          true, true, true, true, true,
                                          false, false)), EmptyString))
                                     then compared0 GT
                                     else if eqb1 sign (String ((Ascii
                                               (false, true, true, true,
                                               true, true, false, false)),
                                               (String ((Ascii (true, false,
                                               true, true, true, true, false,
                                               false)), EmptyString))))
                                          then compared0 GE
                                          else if eqb1 sign (String ((Ascii
                                                    (true, false, true, true,
                                                    true, true, false,
                                                    false)), (String ((Ascii
                                                    (true, false, true, true,
                                                    true, true, false,
                                                    false)), EmptyString))))
                                               then compared0 EQ
                                               else if eqb1 sign (String
                                                         ((Ascii (true,
                                                         false, false, false,
                                                         false, true, false,
                                                         false)), (String
                                                         ((Ascii (true,
                                                         false, true, true,
                                                         true, true, false,
                                                         false)),
                                                         EmptyString))))
                                                    then compared0 NE
                                                    else if eqb1 sign (String
                                                              ((Ascii (false,
                                                              true, true,
                                                              false, false,
                                                              true, false,
                                                              false)),
                                                              (String ((Ascii
                                                              (false, true,
                                                              true, false,
                                                              false, true,
                                                              false, false)),
                                                              EmptyString))))
                                                         then Some (Truth
                                                                (And
                                                                ((truth_of m) :: (
                                                                (truth_of m') :: []))))
                                                         else if eqb1 sign
                                                                   (String
                                                                   ((Ascii
                                                                   (false,
                                                                   false,
                                                                   true,
                                                                   true,
                                                                   true,
                                                                   true,
                                                                   true,
                                                                   false)),
                                                                   (String
                                                                   ((Ascii
                                                                   (false,
                                                                   false,
                                                                   true,
                                                                   true,
                                                                   true,
                                                                   true,
                                                                   true,
                                                                   false)),
                                                                   EmptyString))))
                                                              then Some
                                                                    (Truth
                                                                    (Or
                                                                    ((truth_of
                                                                    m) :: (
                                                                    (truth_of
                                                                    m') :: []))))
                                                              else None

(** val precedence : string -> nat option **)

let precedence sign =
  let among0 = fun l -> existsb (eqb1 sign) l in
  if among0 ((String ((Ascii (false, true, false, true, false, true, false,
       false)), EmptyString)) :: ((String ((Ascii (true, true, true, true,
       false, true, false, false)), EmptyString)) :: ((String ((Ascii (true,
       false, true, false, false, true, false, false)), EmptyString)) :: [])))
  then Some (S (S (S (S (S (S O))))))
  else if among0 ((String ((Ascii (true, true, false, true, false, true,
            false, false)), EmptyString)) :: ((String ((Ascii (true, false,
            true, true, false, true, false, false)), EmptyString)) :: []))
       then Some (S (S (S (S (S O)))))
       else if among0 ((String ((Ascii (false, false, true, true, true, true,
                 false, false)), EmptyString)) :: ((String ((Ascii (false,
                 false, true, true, true, true, false, false)), (String
                 ((Ascii (true, false, true, true, true, true, false,
                 false)), EmptyString)))) :: ((String ((Ascii (false, true,
                 true, true, true, true, false, false)),
                 EmptyString)) :: ((String ((Ascii (false, true, true, true,
                 true, true, false, false)), (String ((Ascii (true, false,
                 true, true, true, true, false, false)),
                 EmptyString)))) :: []))))
            then Some (S (S (S (S O))))
            else if among0 ((String ((Ascii (true, false, true, true, true,
                      true, false, false)), (String ((Ascii (true, false,
                      true, true, true, true, false, false)),
                      EmptyString)))) :: ((String ((Ascii (true, false,
                      false, false, false, true, false, false)), (String
                      ((Ascii (true, false, true, true, true, true, false,
                      false)), EmptyString)))) :: []))
                 then Some (S (S (S O)))
                 else if eqb1 sign (String ((Ascii (false, true, true, false,
                           false, true, false, false)), (String ((Ascii
                           (false, true, true, false, false, true, false,
                           false)), EmptyString))))
                      then Some (S (S O))
                      else if eqb1 sign (String ((Ascii (false, false, true,
                                true, true, true, true, false)), (String
                                ((Ascii (false, false, true, true, true,
                                true, true, false)), EmptyString))))
                           then Some (S O)
                           else None

(** val function0 : string -> expr list -> term option **)

let function0 name = function
| [] -> None
| a :: l ->
  (match l with
   | [] -> None
   | b :: l0 ->
     (match l0 with
      | [] ->
        if eqb1 name (String ((Ascii (true, false, true, true, false, true,
             true, false)), (String ((Ascii (true, false, false, true, false,
             true, true, false)), (String ((Ascii (false, true, true, true,
             false, true, true, false)), EmptyString))))))
        then Some (Value (Min (a :: (b :: []))))
        else if eqb1 name (String ((Ascii (true, false, true, true, false,
                  true, true, false)), (String ((Ascii (true, false, false,
                  false, false, true, true, false)), (String ((Ascii (false,
                  false, false, true, true, true, true, false)),
                  EmptyString))))))
             then Some (Value (Max (a :: (b :: []))))
             else if eqb1 name (String ((Ascii (false, true, true, false,
                       false, true, true, false)), (String ((Ascii (false,
                       false, true, true, false, true, true, false)), (String
                       ((Ascii (true, true, true, true, false, true, true,
                       false)), (String ((Ascii (true, true, true, true,
                       false, true, true, false)), (String ((Ascii (false,
                       true, false, false, true, true, true, false)), (String
                       ((Ascii (false, false, true, false, false, true, true,
                       false)), EmptyString))))))))))))
                  then (match b with
                        | Int value ->
                          (match value with
                           | Zpos d -> Some (Value (FloorDiv (a, d)))
                           | _ -> None)
                        | _ -> None)
                  else None
      | _ :: _ -> None))

type 'a parser0 = token list -> ('a * token list) option

(** val then_ :
    ('a1 * token list) option -> ('a1 -> 'a2 parser0) -> ('a2 * token list)
    option **)

let then_ found next0 =
  match found with
  | Some p -> let (a, ts) = p in next0 a ts
  | None -> None

(** val after_sign : string -> 'a1 parser0 -> 'a1 parser0 **)

let after_sign sign next0 = function
| [] -> None
| t :: ts' ->
  (match t with
   | Sign s -> if eqb1 s sign then next0 ts' else None
   | _ -> None)

(** val result : 'a1 -> 'a1 parser0 **)

let result a ts =
  Some (a, ts)

(** val expression : nat -> token list -> (term * token list) option **)

let rec expression fuel ts =
  match fuel with
  | O -> None
  | S fuel0 ->
    (match operation fuel0 (S O) ts with
     | Some p ->
       let (c, l) = p in
       (match l with
        | [] -> Some (c, [])
        | t :: ts' ->
          (match t with
           | Sign s ->
             if eqb1 s (String ((Ascii (true, true, true, true, true, true,
                  false, false)), EmptyString))
             then then_ (expression fuel0 ts') (fun a rest ->
                    after_sign (String ((Ascii (false, true, false, true,
                      true, true, false, false)), EmptyString)) (fun ts0 ->
                      then_ (expression fuel0 ts0) (fun b rest0 ->
                        result (Value (Select ((truth_of c), (value_of a),
                          (value_of b)))) rest0)) rest)
             else Some (c, ((Sign s) :: ts'))
           | x -> Some (c, (x :: ts'))))
     | None -> None)

(** val operation : nat -> nat -> token list -> (term * token list) option **)

and operation fuel level0 ts =
  match fuel with
  | O -> None
  | S fuel0 ->
    then_ (operand fuel0 ts) (fun a rest -> further fuel0 level0 a rest)

(** val further :
    nat -> nat -> term -> token list -> (term * token list) option **)

and further fuel level0 a ts =
  match fuel with
  | O -> None
  | S fuel0 ->
    (match ts with
     | [] -> Some (a, ts)
     | t :: ts' ->
       (match t with
        | Sign s ->
          (match precedence s with
           | Some p ->
             if Nat.leb level0 p
             then then_ (operation fuel0 (S p) ts') (fun b rest ->
                    match applied s a b with
                    | Some c -> further fuel0 level0 c rest
                    | None -> None)
             else Some (a, ts)
           | None -> Some (a, ts))
        | _ -> Some (a, ts)))

(** val operand : nat -> token list -> (term * token list) option **)

and operand fuel ts =
  match fuel with
  | O -> None
  | S fuel0 ->
    (match ts with
     | [] -> None
     | t :: ts' ->
       (match t with
        | Word x ->
          (match ts' with
           | [] -> Some ((Value (Var x)), ts')
           | t0 :: ts'0 ->
             (match t0 with
              | Sign s ->
                if eqb1 s (String ((Ascii (false, false, false, true, false,
                     true, false, false)), EmptyString))
                then then_ (arguments fuel0 ts'0) (fun l rest ->
                       match function0 x l with
                       | Some m -> Some (m, rest)
                       | None -> None)
                else Some ((Value (Var x)), ((Sign s) :: ts'0))
              | _ -> Some ((Value (Var x)), ts')))
        | Number (v, _) -> Some ((Value (Int v)), ts')
        | Sign s ->
          if eqb1 s (String ((Ascii (true, false, true, true, false, true,
               false, false)), EmptyString))
          then then_ (operand fuel0 ts') (fun a rest ->
                 result (Value (scaled (Zneg XH) (value_of a))) rest)
          else if eqb1 s (String ((Ascii (true, false, false, false, false,
                    true, false, false)), EmptyString))
               then then_ (operand fuel0 ts') (fun a rest ->
                      result (Truth (Not (truth_of a))) rest)
               else if eqb1 s (String ((Ascii (false, false, false, true,
                         false, true, false, false)), EmptyString))
                    then (match after_cast ts' with
                          | Some rest ->
                            then_ (operand fuel0 rest) (fun a rest0 ->
                              result (Value (Sum ((value_of a) :: []))) rest0)
                          | None ->
                            then_ (expression fuel0 ts') (fun a rest ->
                              after_sign (String ((Ascii (true, false, false,
                                true, false, true, false, false)),
                                EmptyString)) (result a) rest))
                    else None
        | _ -> None))

(** val arguments : nat -> token list -> (expr list * token list) option **)

and arguments fuel ts =
  match fuel with
  | O -> None
  | S fuel0 ->
    (match ts with
     | [] -> more_arguments fuel0 ts
     | t :: ts' ->
       (match t with
        | Sign s ->
          if eqb1 s (String ((Ascii (true, false, false, true, false, true,
               false, false)), EmptyString))
          then Some ([], ts')
          else more_arguments fuel0 ts
        | _ -> more_arguments fuel0 ts))

(** val more_arguments :
    nat -> token list -> (expr list * token list) option **)

and more_arguments fuel ts =
  match fuel with
  | O -> None
  | S fuel0 ->
    then_ (expression fuel0 ts) (fun a rest ->
      match rest with
      | [] -> None
      | y :: ts' ->
        (match y with
         | Sign s ->
           if eqb1 s (String ((Ascii (true, false, false, true, false, true,
                false, false)), EmptyString))
           then Some (((value_of a) :: []), ts')
           else if eqb1 s (String ((Ascii (false, false, true, true, false,
                     true, false, false)), EmptyString))
                then then_ (more_arguments fuel0 ts') (fun l rest0 ->
                       result ((value_of a) :: l) rest0)
                else None
         | _ -> None))

(** val integers : string list **)

let integers =
  (String ((Ascii (true, false, false, true, false, true, true, false)),
    (String ((Ascii (false, true, true, true, false, true, true, false)),
    (String ((Ascii (false, false, true, false, true, true, true, false)),
    EmptyString)))))) :: ((String ((Ascii (false, false, true, true, false,
    true, true, false)), (String ((Ascii (true, true, true, true, false,
    true, true, false)), (String ((Ascii (false, true, true, true, false,
    true, true, false)), (String ((Ascii (true, true, true, false, false,
    true, true, false)), EmptyString)))))))) :: ((String ((Ascii (true, true,
    false, false, true, true, true, false)), (String ((Ascii (false, false,
    false, true, false, true, true, false)), (String ((Ascii (true, true,
    true, true, false, true, true, false)), (String ((Ascii (false, true,
    false, false, true, true, true, false)), (String ((Ascii (false, false,
    true, false, true, true, true, false)), EmptyString)))))))))) :: ((String
    ((Ascii (true, true, false, false, false, true, true, false)), (String
    ((Ascii (false, false, false, true, false, true, true, false)), (String
    ((Ascii (true, false, false, false, false, true, true, false)), (String
    ((Ascii (false, true, false, false, true, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (true, true, false, false, true,
    true, true, false)), (String ((Ascii (true, false, false, true, false,
    true, true, false)), (String ((Ascii (true, true, true, false, false,
    true, true, false)), (String ((Ascii (false, true, true, true, false,
    true, true, false)), (String ((Ascii (true, false, true, false, false,
    true, true, false)), (String ((Ascii (false, false, true, false, false,
    true, true, false)), EmptyString)))))))))))) :: ((String ((Ascii (true,
    false, true, false, true, true, true, false)), (String ((Ascii (false,
    true, true, true, false, true, true, false)), (String ((Ascii (true,
    true, false, false, true, true, true, false)), (String ((Ascii (true,
    false, false, true, false, true, true, false)), (String ((Ascii (true,
    true, true, false, false, true, true, false)), (String ((Ascii (false,
    true, true, true, false, true, true, false)), (String ((Ascii (true,
    false, true, false, false, true, true, false)), (String ((Ascii (false,
    false, true, false, false, true, true, false)),
    EmptyString)))))))))))))))) :: ((String ((Ascii (true, true, false,
    false, false, true, true, false)), (String ((Ascii (true, true, true,
    true, false, true, true, false)), (String ((Ascii (false, true, true,
    true, false, true, true, false)), (String ((Ascii (true, true, false,
    false, true, true, true, false)), (String ((Ascii (false, false, true,
    false, true, true, true, false)), EmptyString)))))))))) :: ((String
    ((Ascii (true, true, false, false, true, true, true, false)), (String
    ((Ascii (true, false, false, true, false, true, true, false)), (String
    ((Ascii (false, true, false, true, true, true, true, false)), (String
    ((Ascii (true, false, true, false, false, true, true, false)), (String
    ((Ascii (true, true, true, true, true, false, true, false)), (String
    ((Ascii (false, false, true, false, true, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (true, true, false, false,
    true, true, true, false)), (String ((Ascii (true, true, false, false,
    true, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, false, true,
    true, true, true, false)), (String ((Ascii (true, false, true, false,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    true, false, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), EmptyString)))))))))))))) :: ((String ((Ascii
    (false, false, false, false, true, true, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)), (String ((Ascii
    (false, true, false, false, true, true, true, false)), (String ((Ascii
    (false, false, true, false, false, true, true, false)), (String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (true, true, true, true, true, false, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)),
    EmptyString)))))))))))))))))) :: ((String ((Ascii (true, false, false,
    true, false, true, true, false)), (String ((Ascii (false, true, true,
    true, false, true, true, false)), (String ((Ascii (false, false, true,
    false, true, true, true, false)), (String ((Ascii (false, false, false,
    true, true, true, false, false)), (String ((Ascii (true, true, true,
    true, true, false, true, false)), (String ((Ascii (false, false, true,
    false, true, true, true, false)), EmptyString)))))))))))) :: ((String
    ((Ascii (true, false, false, true, false, true, true, false)), (String
    ((Ascii (false, true, true, true, false, true, true, false)), (String
    ((Ascii (false, false, true, false, true, true, true, false)), (String
    ((Ascii (true, false, false, false, true, true, false, false)), (String
    ((Ascii (false, true, true, false, true, true, false, false)), (String
    ((Ascii (true, true, true, true, true, false, true, false)), (String
    ((Ascii (false, false, true, false, true, true, true, false)),
    EmptyString)))))))))))))) :: ((String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (true, true, false, false,
    true, true, false, false)), (String ((Ascii (false, true, false, false,
    true, true, false, false)), (String ((Ascii (true, true, true, true,
    true, false, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), EmptyString)))))))))))))) :: ((String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)), (String ((Ascii
    (false, true, true, false, true, true, false, false)), (String ((Ascii
    (false, false, true, false, true, true, false, false)), (String ((Ascii
    (true, true, true, true, true, false, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)),
    EmptyString)))))))))))))) :: ((String ((Ascii (true, false, true, false,
    true, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (false, false, false, true,
    true, true, false, false)), (String ((Ascii (true, true, true, true,
    true, false, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), EmptyString)))))))))))))) :: ((String ((Ascii
    (true, false, true, false, true, true, true, false)), (String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)), (String ((Ascii
    (true, false, false, false, true, true, false, false)), (String ((Ascii
    (false, true, true, false, true, true, false, false)), (String ((Ascii
    (true, true, true, true, true, false, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)),
    EmptyString)))))))))))))))) :: ((String ((Ascii (true, false, true,
    false, true, true, true, false)), (String ((Ascii (true, false, false,
    true, false, true, true, false)), (String ((Ascii (false, true, true,
    true, false, true, true, false)), (String ((Ascii (false, false, true,
    false, true, true, true, false)), (String ((Ascii (true, true, false,
    false, true, true, false, false)), (String ((Ascii (false, true, false,
    false, true, true, false, false)), (String ((Ascii (true, true, true,
    true, true, false, true, false)), (String ((Ascii (false, false, true,
    false, true, true, true, false)), EmptyString)))))))))))))))) :: ((String
    ((Ascii (true, false, true, false, true, true, true, false)), (String
    ((Ascii (true, false, false, true, false, true, true, false)), (String
    ((Ascii (false, true, true, true, false, true, true, false)), (String
    ((Ascii (false, false, true, false, true, true, true, false)), (String
    ((Ascii (false, true, true, false, true, true, false, false)), (String
    ((Ascii (false, false, true, false, true, true, false, false)), (String
    ((Ascii (true, true, true, true, true, false, true, false)), (String
    ((Ascii (false, false, true, false, true, true, true, false)),
    EmptyString)))))))))))))))) :: [])))))))))))))))))

(** val declared : token list -> bool * token list **)

let rec declared ts = match ts with
| [] -> (false, ts)
| t0 :: ts' ->
  (match t0 with
   | Word t ->
     (match ts' with
      | [] -> (false, ts)
      | t1 :: _ ->
        (match t1 with
         | Word _ ->
           if existsb (eqb1 t) integers
           then (true, (snd (declared ts')))
           else (false, ts)
         | _ -> (false, ts)))
   | _ -> (false, ts))

(** val is_new : bool -> string list -> string -> expr -> bool **)

let is_new declares bound0 x a =
  (&&) ((||) declares (negb (existsb (eqb1 x) bound0)))
    (closed_expr (filter (fun y -> negb (eqb1 x y)) bound0) a)

(** val update : string -> z parser0 **)

let update x ts =
  let own0 = fun y -> eqb1 x y in
  let one = fun s ->
    if eqb1 s (String ((Ascii (true, true, false, true, false, true, false,
         false)), (String ((Ascii (true, true, false, true, false, true,
         false, false)), EmptyString))))
    then Some (Zpos XH)
    else if eqb1 s (String ((Ascii (true, false, true, true, false, true,
              false, false)), (String ((Ascii (true, false, true, true,
              false, true, false, false)), EmptyString))))
         then Some (Zneg XH)
         else None
  in
  let signed = fun s v ->
    if eqb1 s (String ((Ascii (true, true, false, true, false, true, false,
         false)), (String ((Ascii (true, false, true, true, true, true,
         false, false)), EmptyString))))
    then Some v
    else if eqb1 s (String ((Ascii (true, false, true, true, false, true,
              false, false)), (String ((Ascii (true, false, true, true, true,
              true, false, false)), EmptyString))))
         then Some (Z.opp v)
         else None
  in
  let given0 = fun step rest ->
    match step with
    | Some k -> Some (k, rest)
    | None -> None
  in
  (match ts with
   | [] -> None
   | t0 :: l ->
     (match t0 with
      | Word y ->
        (match l with
         | [] -> None
         | t1 :: rest ->
           (match t1 with
            | Sign s ->
              (match rest with
               | [] -> if own0 y then given0 (one s) rest else None
               | t2 :: rest0 ->
                 (match t2 with
                  | Word z0 ->
                    (match rest0 with
                     | [] -> if own0 y then given0 (one s) rest else None
                     | t3 :: l0 ->
                       (match t3 with
                        | Sign t ->
                          (match l0 with
                           | [] ->
                             if own0 y then given0 (one s) rest else None
                           | t4 :: rest1 ->
                             (match t4 with
                              | Number (v, _) ->
                                if (&&) ((&&) (own0 y) (own0 z0))
                                     (eqb1 s (String ((Ascii (true, false,
                                       true, true, true, true, false,
                                       false)), EmptyString)))
                                then given0
                                       (signed
                                         (append t (String ((Ascii (true,
                                           false, true, true, true, true,
                                           false, false)), EmptyString))) v)
                                       rest1
                                else None
                              | _ ->
                                if own0 y then given0 (one s) rest else None))
                        | _ -> if own0 y then given0 (one s) rest else None))
                  | Number (v, _) ->
                    if own0 y then given0 (signed s v) rest0 else None
                  | _ -> if own0 y then given0 (one s) rest else None))
            | _ -> None))
      | Sign s ->
        (match l with
         | [] -> None
         | t :: rest ->
           (match t with
            | Word y -> if own0 y then given0 (one s) rest else None
            | _ -> None))
      | _ -> None))

(** val is_pragma : string -> bool **)

let is_pragma line =
  match words line with
  | [] -> false
  | t :: _ ->
    (match t with
     | Word a ->
       eqb1 a (String ((Ascii (false, false, false, false, true, true, true,
         false)), (String ((Ascii (false, true, false, false, true, true,
         true, false)), (String ((Ascii (true, false, false, false, false,
         true, true, false)), (String ((Ascii (true, true, true, false,
         false, true, true, false)), (String ((Ascii (true, false, true,
         true, false, true, true, false)), (String ((Ascii (true, false,
         false, false, false, true, true, false)), EmptyString))))))))))))
     | _ -> false)

(** val letters_of : token -> string **)

let letters_of = function
| Word s -> s
| Number (_, s) -> s
| Sign s -> s
| Directive s -> s
| Unread s -> s

(** val spelled : token list -> string **)

let rec spelled = function
| [] -> EmptyString
| t :: ts' ->
  (match ts' with
   | [] -> letters_of t
   | _ :: _ ->
     append (letters_of t)
       (append (String ((Ascii (false, false, false, false, false, true,
         false, false)), EmptyString)) (spelled ts')))

(** val controls : string list **)

let controls =
  (String ((Ascii (true, false, false, true, false, true, true, false)),
    (String ((Ascii (false, true, true, false, false, true, true, false)),
    EmptyString)))) :: ((String ((Ascii (true, false, true, false, false,
    true, true, false)), (String ((Ascii (false, false, true, true, false,
    true, true, false)), (String ((Ascii (true, true, false, false, true,
    true, true, false)), (String ((Ascii (true, false, true, false, false,
    true, true, false)), EmptyString)))))))) :: ((String ((Ascii (false,
    true, true, false, false, true, true, false)), (String ((Ascii (true,
    true, true, true, false, true, true, false)), (String ((Ascii (false,
    true, false, false, true, true, true, false)),
    EmptyString)))))) :: ((String ((Ascii (true, true, true, false, true,
    true, true, false)), (String ((Ascii (false, false, false, true, false,
    true, true, false)), (String ((Ascii (true, false, false, true, false,
    true, true, false)), (String ((Ascii (false, false, true, true, false,
    true, true, false)), (String ((Ascii (true, false, true, false, false,
    true, true, false)), EmptyString)))))))))) :: ((String ((Ascii (false,
    false, true, false, false, true, true, false)), (String ((Ascii (true,
    true, true, true, false, true, true, false)), EmptyString)))) :: ((String
    ((Ascii (true, true, false, false, true, true, true, false)), (String
    ((Ascii (true, true, true, false, true, true, true, false)), (String
    ((Ascii (true, false, false, true, false, true, true, false)), (String
    ((Ascii (false, false, true, false, true, true, true, false)), (String
    ((Ascii (true, true, false, false, false, true, true, false)), (String
    ((Ascii (false, false, false, true, false, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (true, true, false, false,
    false, true, true, false)), (String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (true, true, false, false,
    true, true, true, false)), (String ((Ascii (true, false, true, false,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (false, false, true, false, false, true, true, false)), (String ((Ascii
    (true, false, true, false, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (true, false, true, false, true, true, true, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)),
    EmptyString)))))))))))))) :: ((String ((Ascii (true, true, true, false,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (false, true, false, false, false, true, true, false)), (String ((Ascii
    (false, true, false, false, true, true, true, false)), (String ((Ascii
    (true, false, true, false, false, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (true, true, false, true, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, true, false, false,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (true, false, true, false,
    true, true, true, false)), (String ((Ascii (true, false, true, false,
    false, true, true, false)), EmptyString)))))))))))))))) :: ((String
    ((Ascii (false, true, false, false, true, true, true, false)), (String
    ((Ascii (true, false, true, false, false, true, true, false)), (String
    ((Ascii (false, false, true, false, true, true, true, false)), (String
    ((Ascii (true, false, true, false, true, true, true, false)), (String
    ((Ascii (false, true, false, false, true, true, true, false)), (String
    ((Ascii (false, true, true, true, false, true, true, false)),
    EmptyString)))))))))))) :: [])))))))))))

(** val assigning : string list **)

let assigning =
  (String ((Ascii (true, false, true, true, true, true, false, false)),
    EmptyString)) :: ((String ((Ascii (true, true, false, true, false, true,
    false, false)), (String ((Ascii (true, false, true, true, true, true,
    false, false)), EmptyString)))) :: ((String ((Ascii (true, false, true,
    true, false, true, false, false)), (String ((Ascii (true, false, true,
    true, true, true, false, false)), EmptyString)))) :: ((String ((Ascii
    (false, true, false, true, false, true, false, false)), (String ((Ascii
    (true, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (true, true, true, true, false, true,
    false, false)), (String ((Ascii (true, false, true, true, true, true,
    false, false)), EmptyString)))) :: ((String ((Ascii (true, false, true,
    false, false, true, false, false)), (String ((Ascii (true, false, true,
    true, true, true, false, false)), EmptyString)))) :: ((String ((Ascii
    (false, true, true, false, false, true, false, false)), (String ((Ascii
    (true, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (false, false, true, true, true,
    true, true, false)), (String ((Ascii (true, false, true, true, true,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (false, true,
    true, true, true, false, true, false)), (String ((Ascii (true, false,
    true, true, true, true, false, false)), EmptyString)))) :: ((String
    ((Ascii (false, false, true, true, true, true, false, false)), (String
    ((Ascii (false, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (false, true, true, true, true, true,
    false, false)), (String ((Ascii (false, true, true, true, true, true,
    false, false)), EmptyString)))) :: ((String ((Ascii (true, true, false,
    true, false, true, false, false)), (String ((Ascii (true, true, false,
    true, false, true, false, false)), EmptyString)))) :: ((String ((Ascii
    (true, false, true, true, false, true, false, false)), (String ((Ascii
    (true, false, true, true, false, true, false, false)),
    EmptyString)))) :: []))))))))))))

(** val past : string -> token list -> token list **)

let rec past sign ts = match ts with
| [] -> ts
| t :: ts' ->
  (match t with
   | Sign s -> if eqb1 s sign then past sign ts' else ts
   | _ -> ts)

(** val assigns : string list -> token list -> bool **)

let rec assigns bound0 ts =
  let is_bound = fun x -> existsb (eqb1 x) bound0 in
  (match ts with
   | [] -> false
   | t :: ts' ->
     (||)
       (match t with
        | Word x ->
          (&&) (is_bound x)
            (match past (String ((Ascii (true, false, false, true, false,
                     true, false, false)), EmptyString)) ts' with
             | [] -> false
             | t0 :: _ ->
               (match t0 with
                | Sign s -> existsb (eqb1 s) assigning
                | _ -> false))
        | Sign s ->
          (&&)
            (existsb (eqb1 s) ((String ((Ascii (true, true, false, true,
              false, true, false, false)), (String ((Ascii (true, true,
              false, true, false, true, false, false)),
              EmptyString)))) :: ((String ((Ascii (true, false, true, true,
              false, true, false, false)), (String ((Ascii (true, false,
              true, true, false, true, false, false)),
              EmptyString)))) :: ((String ((Ascii (false, true, true, false,
              false, true, false, false)), EmptyString)) :: []))))
            (match past (String ((Ascii (false, false, false, true, false,
                     true, false, false)), EmptyString)) ts' with
             | [] -> false
             | t0 :: _ -> (match t0 with
                           | Word x -> is_bound x
                           | _ -> false))
        | _ -> false) (assigns bound0 ts'))

(** val simple : token list -> (token list * token list) option **)

let rec simple = function
| [] -> None
| t :: ts' ->
  (match t with
   | Word w ->
     if existsb (eqb1 w) controls
     then None
     else (match simple ts' with
           | Some p -> let (l, rest) = p in Some (((Word w) :: l), rest)
           | None -> None)
   | Sign s ->
     if eqb1 s (String ((Ascii (true, true, false, true, true, true, false,
          false)), EmptyString))
     then Some ([], ts')
     else if existsb (eqb1 s) ((String ((Ascii (true, true, false, true,
               true, true, true, false)), EmptyString)) :: ((String ((Ascii
               (true, false, true, true, true, true, true, false)),
               EmptyString)) :: []))
          then None
          else (match simple ts' with
                | Some p -> let (l, rest) = p in Some (((Sign s) :: l), rest)
                | None -> None)
   | Directive _ -> None
   | _ ->
     (match simple ts' with
      | Some p -> let (l, rest) = p in Some ((t :: l), rest)
      | None -> None))

(** val only_declares : token list -> bool **)

let only_declares ts = match ts with
| [] -> false
| t :: l ->
  (match t with
   | Word _ ->
     (match l with
      | [] -> false
      | t0 :: _ ->
        (match t0 with
         | Word _ ->
           forallb (fun t1 ->
             match t1 with
             | Word _ -> true
             | Number (_, _) -> true
             | Sign s ->
               existsb (eqb1 s) ((String ((Ascii (false, false, true, true,
                 false, true, false, false)), EmptyString)) :: ((String
                 ((Ascii (true, true, false, true, true, false, true,
                 false)), EmptyString)) :: ((String ((Ascii (true, false,
                 true, true, true, false, true, false)),
                 EmptyString)) :: ((String ((Ascii (false, true, false, true,
                 false, true, false, false)), EmptyString)) :: []))))
             | _ -> false) ts
         | _ -> false))
   | _ -> false)

(** val outside : nat -> token list -> string list **)

let rec outside depth = function
| [] -> []
| t :: ts' ->
  (match t with
   | Word x ->
     app (match depth with
          | O -> x :: []
          | S _ -> []) (outside depth ts')
   | Sign s ->
     outside
       (if eqb1 s (String ((Ascii (true, true, false, true, true, false,
             true, false)), EmptyString))
        then S depth
        else if eqb1 s (String ((Ascii (true, false, true, true, true, false,
                  true, false)), EmptyString))
             then Nat.pred depth
             else depth) ts'
   | _ -> outside depth ts')

(** val opaque_statement : string list -> counted parser0 **)

let opaque_statement bound0 ts =
  match simple ts with
  | Some p ->
    let (l, rest) = p in
    if assigns bound0 l
    then None
    else if only_declares l
         then if existsb (fun x -> existsb (eqb1 x) bound0) (outside O l)
              then None
              else Some ((Sequence []), rest)
         else Some ((Calling ((spelled l), [], [])), rest)
  | None -> None

(** val sequence : counted list -> counted **)

let sequence l = match l with
| [] -> Sequence l
| n0 :: l0 -> (match l0 with
               | [] -> n0
               | _ :: _ -> Sequence l)

(** val followed : counted -> counted list -> counted list **)

let followed n0 l =
  match n0 with
  | Sequence l' -> app l' l
  | _ -> n0 :: l

(** val one_statement :
    bool -> nat -> string list -> token list -> (counted * token list) option **)

let rec one_statement opaque fuel bound0 ts =
  match fuel with
  | O -> None
  | S fuel0 ->
    (match ts with
     | [] -> if opaque then opaque_statement bound0 ts else None
     | t :: ts' ->
       (match t with
        | Word w ->
          (match ts' with
           | [] -> if opaque then opaque_statement bound0 ts else None
           | t0 :: ts'0 ->
             (match t0 with
              | Sign s ->
                if (&&)
                     ((&&) opaque
                       (eqb1 s (String ((Ascii (false, true, false, true,
                         true, true, false, false)), EmptyString))))
                     (negb (existsb (eqb1 w) controls))
                then one_statement opaque fuel0 bound0 ts'0
                else if negb
                          (eqb1 s (String ((Ascii (false, false, false, true,
                            false, true, false, false)), EmptyString)))
                     then if opaque then opaque_statement bound0 ts else None
                     else if eqb1 w (String ((Ascii (true, false, false,
                               true, false, true, true, false)), (String
                               ((Ascii (false, true, true, false, false,
                               true, true, false)), EmptyString))))
                          then then_ (expression fuel0 ts'0) (fun c rest ->
                                 after_sign (String ((Ascii (true, false,
                                   false, true, false, true, false, false)),
                                   EmptyString)) (fun ts0 ->
                                   then_
                                     (one_statement opaque fuel0 bound0 ts0)
                                     (fun n0 rest0 ->
                                     match rest0 with
                                     | [] ->
                                       Some ((Choice ((truth_of c), n0,
                                         (Sequence []))), rest0)
                                     | y :: ts1 ->
                                       (match y with
                                        | Word v ->
                                          if eqb1 v (String ((Ascii (true,
                                               false, true, false, false,
                                               true, true, false)), (String
                                               ((Ascii (false, false, true,
                                               true, false, true, true,
                                               false)), (String ((Ascii
                                               (true, true, false, false,
                                               true, true, true, false)),
                                               (String ((Ascii (true, false,
                                               true, false, false, true,
                                               true, false)),
                                               EmptyString))))))))
                                          then then_
                                                 (one_statement opaque fuel0
                                                   bound0 ts1)
                                                 (fun m rest1 ->
                                                 result (Choice
                                                   ((truth_of c), n0, m))
                                                   rest1)
                                          else Some ((Choice ((truth_of c),
                                                 n0, (Sequence []))), rest0)
                                        | _ ->
                                          Some ((Choice ((truth_of c), n0,
                                            (Sequence []))), rest0)))) rest)
                          else if eqb1 w (String ((Ascii (false, true, true,
                                    false, false, true, true, false)),
                                    (String ((Ascii (true, true, true, true,
                                    false, true, true, false)), (String
                                    ((Ascii (false, true, false, false, true,
                                    true, true, false)), EmptyString))))))
                               then let (declares, ts0) = declared ts'0 in
                                    (match ts0 with
                                     | [] -> None
                                     | t1 :: ts1 ->
                                       (match t1 with
                                        | Word x ->
                                          after_sign (String ((Ascii (true,
                                            false, true, true, true, true,
                                            false, false)), EmptyString))
                                            (fun ts2 ->
                                            then_ (expression fuel0 ts2)
                                              (fun a rest ->
                                              after_sign (String ((Ascii
                                                (true, true, false, true,
                                                true, true, false, false)),
                                                EmptyString)) (fun ts3 ->
                                                if is_new declares bound0 x
                                                     (value_of a)
                                                then then_
                                                       (match ts3 with
                                                        | [] ->
                                                          expression fuel0 ts3
                                                        | t2 :: _ ->
                                                          (match t2 with
                                                           | Sign s0 ->
                                                             if eqb1 s0
                                                                  (String
                                                                  ((Ascii
                                                                  (true,
                                                                  true,
                                                                  false,
                                                                  true, true,
                                                                  true,
                                                                  false,
                                                                  false)),
                                                                  EmptyString))
                                                             then Some
                                                                    ((Truth
                                                                    (And
                                                                    [])), ts3)
                                                             else expression
                                                                    fuel0 ts3
                                                           | _ ->
                                                             expression fuel0
                                                               ts3))
                                                       (fun c rest0 ->
                                                       after_sign (String
                                                         ((Ascii (true, true,
                                                         false, true, true,
                                                         true, false,
                                                         false)),
                                                         EmptyString))
                                                         (fun ts4 ->
                                                         then_ (update x ts4)
                                                           (fun k rest1 ->
                                                           after_sign (String
                                                             ((Ascii (true,
                                                             false, false,
                                                             true, false,
                                                             true, false,
                                                             false)),
                                                             EmptyString))
                                                             (fun ts5 ->
                                                             then_
                                                               (one_statement
                                                                 opaque fuel0
                                                                 (x :: bound0)
                                                                 ts5)
                                                               (fun n0 rest2 ->
                                                               result
                                                                 (Counting
                                                                 (x,
                                                                 (value_of a),
                                                                 (truth_of c),
                                                                 k, n0)) rest2))
                                                             rest1)) rest0)
                                                else None) rest)) ts1
                                        | _ -> None))
                               else if opaque
                                    then opaque_statement bound0 ts
                                    else then_ (arguments fuel0 ts'0)
                                           (fun l rest ->
                                           after_sign (String ((Ascii (true,
                                             true, false, true, true, true,
                                             false, false)), EmptyString))
                                             (result (Calling (w, l, [])))
                                             rest)
              | _ -> if opaque then opaque_statement bound0 ts else None))
        | Sign s ->
          if eqb1 s (String ((Ascii (true, true, false, true, true, true,
               false, false)), EmptyString))
          then Some ((Sequence []), ts')
          else if eqb1 s (String ((Ascii (true, true, false, true, true,
                    true, true, false)), EmptyString))
               then then_ (block_items opaque fuel0 bound0 ts')
                      (fun l rest ->
                      after_sign (String ((Ascii (true, false, true, true,
                        true, true, true, false)), EmptyString))
                        (result (sequence l)) rest)
               else if opaque then opaque_statement bound0 ts else None
        | Directive d ->
          if is_pragma d
          then then_ (one_statement opaque fuel0 bound0 ts') (fun n0 rest ->
                 match n0 with
                 | Counting (_, _, _, _, _) -> Some ((Remark (d, n0)), rest)
                 | Remark (_, body) ->
                   (match body with
                    | Counting (_, _, _, _, _) ->
                      Some ((Remark (d, n0)), rest)
                    | _ -> None)
                 | _ -> None)
          else None
        | _ -> if opaque then opaque_statement bound0 ts else None))

(** val block_items :
    bool -> nat -> string list -> token list -> (counted list * token list)
    option **)

and block_items opaque fuel bound0 ts =
  match fuel with
  | O -> None
  | S fuel0 ->
    let statement = fun _ ->
      then_ (one_statement opaque fuel0 bound0 ts) (fun n0 rest ->
        then_ (block_items opaque fuel0 bound0 rest) (fun l rest0 ->
          result (followed n0 l) rest0))
    in
    (match ts with
     | [] -> Some ([], [])
     | t :: l ->
       (match t with
        | Sign s ->
          if eqb1 s (String ((Ascii (true, false, true, true, true, true,
               true, false)), EmptyString))
          then Some ([], ts)
          else statement ()
        | x ->
          let (b, l0) = declared (x :: l) in
          if b
          then (match l0 with
                | [] -> statement ()
                | t0 :: l1 ->
                  (match t0 with
                   | Word x0 ->
                     (match l1 with
                      | [] -> statement ()
                      | t1 :: ts' ->
                        (match t1 with
                         | Sign s ->
                           (match if eqb1 s (String ((Ascii (true, false,
                                       true, true, true, true, false,
                                       false)), EmptyString))
                                  then expression fuel0 ts'
                                  else None with
                            | Some p ->
                              let (a, l2) = p in
                              (match l2 with
                               | [] -> statement ()
                               | t2 :: rest ->
                                 (match t2 with
                                  | Sign s' ->
                                    if (&&)
                                         (eqb1 s' (String ((Ascii (true,
                                           true, false, true, true, true,
                                           false, false)), EmptyString)))
                                         (is_new true bound0 x0 (value_of a))
                                    then then_
                                           (block_items opaque fuel0
                                             (x0 :: bound0) rest)
                                           (fun l3 rest0 ->
                                           result ((Naming (x0, (value_of a),
                                             (sequence l3))) :: []) rest0)
                                    else None
                                  | _ -> statement ()))
                            | None -> statement ())
                         | _ -> statement ()))
                   | _ -> statement ()))
          else statement ()))

(** val parse : bool -> string list -> string -> counted option **)

let parse opaque names text =
  let ts = words text in
  (match block_items opaque
           (add (mul (S (S (S (S (S (S (S (S (S (S O)))))))))) (length ts))
             (S (S (S (S (S (S (S (S (S (S O))))))))))) names ts with
   | Some p ->
     let (l, l0) = p in
     (match l0 with
      | [] -> Some (sequence l)
      | _ :: _ -> None)
   | None -> None)

type affine = z * (expr * z) list

(** val same_expr : expr -> expr -> bool **)

let rec same_expr a b =
  match a with
  | Int v -> (match b with
              | Int w -> Z.eqb v w
              | _ -> false)
  | Var x -> (match b with
              | Var y -> eqb1 x y
              | _ -> false)
  | Sum l ->
    (match b with
     | Sum m ->
       let rec each l0 m0 =
         match l0 with
         | [] -> (match m0 with
                  | [] -> true
                  | _ :: _ -> false)
         | a0 :: l' ->
           (match m0 with
            | [] -> false
            | b0 :: m' -> (&&) (same_expr a0 b0) (each l' m'))
       in each l m
     | _ -> false)
  | Scaled (k, a0) ->
    (match b with
     | Scaled (j, b0) -> (&&) (Z.eqb k j) (same_expr a0 b0)
     | _ -> false)
  | FloorDiv (a0, d) ->
    (match b with
     | FloorDiv (b0, c) -> (&&) (Coq_Pos.eqb d c) (same_expr a0 b0)
     | _ -> false)
  | TruncDiv (a0, d) ->
    (match b with
     | TruncDiv (b0, c) -> (&&) (Coq_Pos.eqb d c) (same_expr a0 b0)
     | _ -> false)
  | Rem (a0, d) ->
    (match b with
     | Rem (b0, c) -> (&&) (Coq_Pos.eqb d c) (same_expr a0 b0)
     | _ -> false)
  | _ -> false

(** val put : expr -> z -> (expr * z) list -> (expr * z) list **)

let rec put x k = function
| [] -> (x, k) :: []
| p :: l' ->
  let (y, j) = p in
  if same_expr x y then (y, (Z.add j k)) :: l' else (y, j) :: (put x k l')

(** val plus0 : affine -> z -> affine -> affine **)

let plus0 f k g =
  ((Z.add (fst f) (Z.mul k (fst g))),
    (fold_right (fun one l -> put (fst one) (Z.mul k (snd one)) l) (snd f)
      (snd g)))

(** val term_of : affine -> expr **)

let term_of f =
  Sum ((Int
    (fst f)) :: (map (fun one -> Scaled ((snd one), (fst one)))
                  (filter (fun one -> negb (Z.eqb (snd one) Z0)) (snd f))))

(** val affine_of : (string -> affine option) -> expr -> affine option **)

let rec affine_of var = function
| Int v -> Some (v, [])
| Var x -> var x
| Sum l ->
  let rec total0 = function
  | [] -> Some (Z0, [])
  | b :: l' ->
    (match affine_of var b with
     | Some f ->
       (match total0 l' with
        | Some g -> Some (plus0 f (Zpos XH) g)
        | None -> None)
     | None -> None)
  in total0 l
| Scaled (k, b) ->
  (match affine_of var b with
   | Some f -> Some (plus0 (Z0, []) k f)
   | None -> None)
| FloorDiv (b, d) ->
  (match affine_of var b with
   | Some f -> Some (Z0, (((FloorDiv ((term_of f), d)), (Zpos XH)) :: []))
   | None -> None)
| TruncDiv (b, d) ->
  (match affine_of var b with
   | Some f -> Some (Z0, (((TruncDiv ((term_of f), d)), (Zpos XH)) :: []))
   | None -> None)
| Rem (b, d) ->
  (match affine_of var b with
   | Some f -> Some (Z0, (((Rem ((term_of f), d)), (Zpos XH)) :: []))
   | None -> None)
| _ -> None

(** val itself : string -> affine option **)

let itself x =
  Some (Z0, (((Var x), (Zpos XH)) :: []))

(** val instead :
    (string * expr) list -> string list -> string -> affine option **)

let instead s iterators x =
  match find (fun one -> eqb1 x (fst one)) s with
  | Some p -> let (_, a) = p in affine_of itself a
  | None -> if existsb (eqb1 x) iterators then None else itself x

(** val is_nothing : affine -> bool **)

let is_nothing f =
  (&&) (Z.eqb (fst f) Z0) (forallb (fun one -> Z.eqb (snd one) Z0) (snd f))

(** val affine_equal : (string -> affine option) -> expr -> expr -> bool **)

let affine_equal var a b =
  match affine_of var a with
  | Some f ->
    (match affine_of itself b with
     | Some g -> is_nothing (plus0 f (Zneg XH) g)
     | None -> false)
  | None -> false

(** val same_token : token -> token -> bool **)

let same_token t u =
  match t with
  | Word a -> (match u with
               | Word b -> eqb1 a b
               | _ -> false)
  | Number (v, a) ->
    (match u with
     | Number (w, b) -> (&&) (Z.eqb v w) (eqb1 a b)
     | _ -> false)
  | Sign a -> (match u with
               | Sign b -> eqb1 a b
               | _ -> false)
  | Directive _ -> false
  | Unread a -> (match u with
                 | Unread b -> eqb1 a b
                 | _ -> false)

(** val is_iterator :
    (string * expr) list -> string list -> string -> bool **)

let is_iterator s iterators x =
  (||) (existsb (fun one -> eqb1 x (fst one)) s) (existsb (eqb1 x) iterators)

(** val same_words :
    (string * expr) list -> string list -> nat -> token list -> token list ->
    bool **)

let rec same_words s iterators fuel old new0 =
  match fuel with
  | O -> false
  | S fuel0 ->
    (match old with
     | [] -> (match new0 with
              | [] -> true
              | _ :: _ -> false)
     | t :: old' ->
       (match t with
        | Word x ->
          (match new0 with
           | [] -> false
           | u :: new' ->
             if is_iterator s iterators x
             then (match operand fuel0 new0 with
                   | Some p ->
                     let (b, rest) = p in
                     (&&)
                       (affine_equal (instead s iterators) (Var x)
                         (value_of b))
                       (same_words s iterators fuel0 old' rest)
                   | None -> false)
             else (&&) (same_token (Word x) u)
                    (same_words s iterators fuel0 old' new'))
        | Sign a ->
          (match new0 with
           | [] -> false
           | u :: new' ->
             (match u with
              | Sign b ->
                let plain = fun _ ->
                  (&&) (eqb1 a b) (same_words s iterators fuel0 old' new')
                in
                if (&&)
                     (eqb1 a (String ((Ascii (true, true, false, true, true,
                       false, true, false)), EmptyString)))
                     (eqb1 b (String ((Ascii (true, true, false, true, true,
                       false, true, false)), EmptyString)))
                then (match expression fuel0 old' with
                      | Some p ->
                        let (m, l) = p in
                        (match l with
                         | [] -> plain ()
                         | t0 :: old'' ->
                           (match t0 with
                            | Sign c ->
                              (match expression fuel0 new' with
                               | Some p0 ->
                                 let (m', l0) = p0 in
                                 (match l0 with
                                  | [] -> plain ()
                                  | t1 :: new'' ->
                                    (match t1 with
                                     | Sign d ->
                                       if (&&)
                                            (eqb1 c (String ((Ascii (true,
                                              false, true, true, true, false,
                                              true, false)), EmptyString)))
                                            (eqb1 d (String ((Ascii (true,
                                              false, true, true, true, false,
                                              true, false)), EmptyString)))
                                       then (&&)
                                              (affine_equal
                                                (instead s iterators)
                                                (value_of m) (value_of m'))
                                              (same_words s iterators fuel0
                                                old'' new'')
                                       else plain ()
                                     | _ -> plain ()))
                               | None -> plain ())
                            | _ -> plain ()))
                      | None -> plain ())
                else plain ()
              | _ ->
                (&&) (same_token t u) (same_words s iterators fuel0 old' new')))
        | _ ->
          (match new0 with
           | [] -> false
           | u :: new' ->
             (&&) (same_token t u) (same_words s iterators fuel0 old' new'))))

type told = string * ((string * expr list) * expr list)

(** val is_instance : told list -> string list -> told -> bool **)

let is_instance olds iterators = function
| (text, p) ->
  let (p0, _) = p in
  let (name, args) = p0 in
  (match find (fun old -> eqb1 name (fst (fst (snd old)))) olds with
   | Some p1 ->
     let (text', p2) = p1 in
     let (p3, _) = p2 in
     let (_, own0) = p3 in
     let names =
       flat_map (fun a ->
         match a with
         | Int _ -> []
         | Var x -> x :: []
         | _ -> []) own0
     in
     (&&)
       ((&&) (Nat.eqb (length names) (length own0))
         (Nat.eqb (length own0) (length args)))
       (let old = words text' in
        same_words (combine names args) iterators
          (add (mul (S (S (S (S O)))) (length old)) (S (S (S (S (S (S (S (S
            (S (S O))))))))))) old (words text))
   | None -> false)

type touch =
| Reads
| Writes
| Updates of string

type mention = { mentioned : string; subscripted : expr list option;
                 touching : touch }

(** val among : string list -> string -> bool **)

let among l s =
  existsb (eqb1 s) l

(** val steps : string list **)

let steps =
  (String ((Ascii (true, true, false, true, false, true, false, false)),
    (String ((Ascii (true, true, false, true, false, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (true, false, true, true, false,
    true, false, false)), (String ((Ascii (true, false, true, true, false,
    true, false, false)), EmptyString)))) :: [])

(** val compound : string list **)

let compound =
  (String ((Ascii (true, true, false, true, false, true, false, false)),
    (String ((Ascii (true, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (true, false, true, true, false,
    true, false, false)), (String ((Ascii (true, false, true, true, true,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (false, true,
    false, true, false, true, false, false)), (String ((Ascii (true, false,
    true, true, true, true, false, false)), EmptyString)))) :: ((String
    ((Ascii (true, true, true, true, false, true, false, false)), (String
    ((Ascii (true, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (true, false, true, false, false,
    true, false, false)), (String ((Ascii (true, false, true, true, true,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (false, true,
    true, false, false, true, false, false)), (String ((Ascii (true, false,
    true, true, true, true, false, false)), EmptyString)))) :: ((String
    ((Ascii (false, false, true, true, true, true, true, false)), (String
    ((Ascii (true, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (false, true, true, true, true,
    false, true, false)), (String ((Ascii (true, false, true, true, true,
    true, false, false)), EmptyString)))) :: ((String ((Ascii (true, false,
    true, true, false, true, true, false)), (String ((Ascii (true, false,
    false, true, false, true, true, false)), (String ((Ascii (false, true,
    true, true, false, true, true, false)), (String ((Ascii (true, false,
    true, true, true, true, false, false)), EmptyString)))))))) :: ((String
    ((Ascii (true, false, true, true, false, true, true, false)), (String
    ((Ascii (true, false, false, false, false, true, true, false)), (String
    ((Ascii (false, false, false, true, true, true, true, false)), (String
    ((Ascii (true, false, true, true, true, true, false, false)),
    EmptyString)))))))) :: [])))))))))

(** val shifts : string list **)

let shifts =
  (String ((Ascii (false, false, true, true, true, true, false, false)),
    (String ((Ascii (false, false, true, true, true, true, false, false)),
    EmptyString)))) :: ((String ((Ascii (false, true, true, true, true, true,
    false, false)), (String ((Ascii (false, true, true, true, true, true,
    false, false)), EmptyString)))) :: [])

(** val closing : nat -> token list -> token list **)

let rec closing depth = function
| [] -> []
| t :: ts' ->
  (match t with
   | Sign s ->
     if eqb1 s (String ((Ascii (true, true, false, true, true, false, true,
          false)), EmptyString))
     then closing (S depth) ts'
     else if eqb1 s (String ((Ascii (true, false, true, true, true, false,
               true, false)), EmptyString))
          then (match depth with
                | O -> ts'
                | S d -> closing d ts')
          else closing depth ts'
   | _ -> closing depth ts')

(** val brackets : nat -> token list -> expr list option * token list **)

let rec brackets fuel ts =
  match fuel with
  | O -> ((Some []), ts)
  | S fuel' ->
    (match ts with
     | [] -> ((Some []), ts)
     | t :: ts' ->
       (match t with
        | Sign s ->
          if eqb1 s (String ((Ascii (true, true, false, true, true, false,
               true, false)), EmptyString))
          then let (l, rest) = brackets fuel' (closing O ts') in
               ((match expression fuel ts' with
                 | Some p ->
                   let (a, l0) = p in
                   (match l0 with
                    | [] -> None
                    | t0 :: _ ->
                      (match t0 with
                       | Sign s' ->
                         (match l with
                          | Some l1 ->
                            if eqb1 s' (String ((Ascii (true, false, true,
                                 true, true, false, true, false)),
                                 EmptyString))
                            then Some ((value_of a) :: l1)
                            else None
                          | None -> None)
                       | _ -> None))
                 | None -> None), rest)
          else ((Some []), ts)
        | _ -> ((Some []), ts)))

(** val touch_of : token option -> token list -> touch **)

let touch_of before after =
  let step =
    match before with
    | Some t -> (match t with
                 | Sign s -> among steps s
                 | _ -> false)
    | None -> false
  in
  if step
  then Updates (String ((Ascii (true, true, false, true, false, true, false,
         false)), (String ((Ascii (true, true, false, true, false, true,
         false, false)), EmptyString))))
  else (match after with
        | [] -> Reads
        | t :: rest ->
          (match t with
           | Sign s ->
             if eqb1 s (String ((Ascii (true, false, true, true, true, true,
                  false, false)), EmptyString))
             then Writes
             else if (||) (among steps s) (among compound s)
                  then Updates s
                  else if among shifts s
                       then (match rest with
                             | [] -> Reads
                             | t0 :: _ ->
                               (match t0 with
                                | Sign s' ->
                                  if eqb1 s' (String ((Ascii (true, false,
                                       true, true, true, true, false,
                                       false)), EmptyString))
                                  then Updates s
                                  else Reads
                                | _ -> Reads))
                       else Reads
           | _ -> Reads))

(** val is_plain : token option -> token -> token list -> bool **)

let is_plain before t after =
  let named =
    match before with
    | Some t0 ->
      (match t0 with
       | Word _ -> true
       | Sign s ->
         eqb1 s (String ((Ascii (true, false, true, true, true, false, true,
           false)), EmptyString))
       | _ -> false)
    | None -> false
  in
  let operand1 =
    (||) named
      (match before with
       | Some t0 ->
         (match t0 with
          | Word _ -> false
          | Sign s ->
            eqb1 s (String ((Ascii (true, false, false, true, false, true,
              false, false)), EmptyString))
          | Directive _ -> false
          | _ -> true)
       | None -> false)
  in
  (match t with
   | Sign s ->
     if among ((String ((Ascii (false, true, false, true, false, true, false,
          false)), EmptyString)) :: ((String ((Ascii (false, true, true,
          false, false, true, false, false)), EmptyString)) :: [])) s
     then operand1
     else if eqb1 s (String ((Ascii (true, false, true, true, false, true,
               false, false)), (String ((Ascii (false, true, true, true,
               true, true, false, false)), EmptyString))))
          then false
          else if eqb1 s (String ((Ascii (false, false, true, true, true,
                    true, false, false)), EmptyString))
               then (match after with
                     | [] -> true
                     | t0 :: _ ->
                       (match t0 with
                        | Sign s' ->
                          negb
                            (among ((String ((Ascii (false, true, false,
                              true, true, true, false, false)),
                              EmptyString)) :: ((String ((Ascii (true, false,
                              true, false, false, true, false, false)),
                              EmptyString)) :: [])) s')
                        | _ -> true))
               else if eqb1 s (String ((Ascii (false, true, true, true,
                         false, true, false, false)), EmptyString))
                    then (match after with
                          | [] -> false
                          | t0 :: _ ->
                            (match t0 with
                             | Number (_, _) -> true
                             | Unread _ -> true
                             | _ -> false))
                    else if (||)
                              (eqb1 s (String ((Ascii (true, true, false,
                                true, true, false, true, false)),
                                EmptyString))) (among compound s)
                         then named
                         else if eqb1 s (String ((Ascii (true, false, true,
                                   true, true, true, false, false)),
                                   EmptyString))
                              then (||) named
                                     (match before with
                                      | Some t0 ->
                                        (match t0 with
                                         | Sign s' -> among shifts s'
                                         | _ -> false)
                                      | None -> false)
                              else if among steps s
                                   then (||) named
                                          (match after with
                                           | [] -> false
                                           | t0 :: _ ->
                                             (match t0 with
                                              | Word _ -> true
                                              | _ -> false))
                                   else true
   | Directive _ -> false
   | Unread s ->
     negb
       (among ((String ((Ascii (false, true, false, false, false, true,
         false, false)), EmptyString)) :: ((String ((Ascii (true, true, true,
         false, false, true, false, false)), EmptyString)) :: ((String
         ((Ascii (false, false, true, true, true, false, true, false)),
         EmptyString)) :: []))) s)
   | _ -> true)

(** val mentions_of :
    nat -> token option -> token list -> mention list option **)

let rec mentions_of fuel before = function
| [] -> Some []
| t :: ts' ->
  (match mentions_of fuel (Some t) ts' with
   | Some l ->
     if is_plain before t ts'
     then (match t with
           | Word x ->
             (match ts' with
              | [] ->
                Some ({ mentioned = x; subscripted = (Some []); touching =
                  (touch_of before ts') } :: l)
              | t0 :: _ ->
                (match t0 with
                 | Sign s ->
                   if eqb1 s (String ((Ascii (false, false, false, true,
                        false, true, false, false)), EmptyString))
                   then Some l
                   else let (subs, after) = brackets fuel ts' in
                        Some ({ mentioned = x; subscripted = subs; touching =
                        (touch_of before after) } :: l)
                 | _ ->
                   Some ({ mentioned = x; subscripted = (Some []); touching =
                     (touch_of before ts') } :: l)))
           | _ -> Some l)
     else None
   | None -> None)

(** val operator_in : string -> string **)

let operator_in sign =
  if among ((String ((Ascii (true, true, false, true, false, true, false,
       false)), (String ((Ascii (true, false, true, true, true, true, false,
       false)), EmptyString)))) :: ((String ((Ascii (true, false, true, true,
       false, true, false, false)), (String ((Ascii (true, false, true, true,
       true, true, false, false)), EmptyString)))) :: ((String ((Ascii (true,
       true, false, true, false, true, false, false)), (String ((Ascii (true,
       true, false, true, false, true, false, false)),
       EmptyString)))) :: ((String ((Ascii (true, false, true, true, false,
       true, false, false)), (String ((Ascii (true, false, true, true, false,
       true, false, false)), EmptyString)))) :: [])))) sign
  then String ((Ascii (true, true, false, true, false, true, false, false)),
         EmptyString)
  else if eqb1 sign (String ((Ascii (true, false, true, true, false, true,
            true, false)), (String ((Ascii (true, false, false, true, false,
            true, true, false)), (String ((Ascii (false, true, true, true,
            false, true, true, false)), (String ((Ascii (true, false, true,
            true, true, true, false, false)), EmptyString))))))))
       then String ((Ascii (true, false, true, true, false, true, true,
              false)), (String ((Ascii (true, false, false, true, false,
              true, true, false)), (String ((Ascii (false, true, true, true,
              false, true, true, false)), EmptyString)))))
       else if eqb1 sign (String ((Ascii (true, false, true, true, false,
                 true, true, false)), (String ((Ascii (true, false, false,
                 false, false, true, true, false)), (String ((Ascii (false,
                 false, false, true, true, true, true, false)), (String
                 ((Ascii (true, false, true, true, true, true, false,
                 false)), EmptyString))))))))
            then String ((Ascii (true, false, true, true, false, true, true,
                   false)), (String ((Ascii (true, false, false, false,
                   false, true, true, false)), (String ((Ascii (false, false,
                   false, true, true, true, true, false)), EmptyString)))))
            else (match sign with
                  | EmptyString -> EmptyString
                  | String (c, _) -> String (c, EmptyString))

(** val only_signs : string list -> nat -> token list -> bool **)

let rec only_signs allowed depth = function
| [] -> true
| t :: ts' ->
  (match t with
   | Sign s ->
     if among ((String ((Ascii (false, false, false, true, false, true,
          false, false)), EmptyString)) :: ((String ((Ascii (true, true,
          false, true, true, false, true, false)), EmptyString)) :: [])) s
     then only_signs allowed (S depth) ts'
     else if among ((String ((Ascii (true, false, false, true, false, true,
               false, false)), EmptyString)) :: ((String ((Ascii (true,
               false, true, true, true, false, true, false)),
               EmptyString)) :: [])) s
          then only_signs allowed (Nat.pred depth) ts'
          else (&&) ((||) (Nat.ltb O depth) (among allowed s))
                 (only_signs allowed depth ts')
   | _ -> only_signs allowed depth ts')

(** val without : token list -> token list -> token list option **)

let rec without l ts =
  match l with
  | [] -> Some ts
  | t :: l' ->
    (match ts with
     | [] -> None
     | u :: ts' -> if same_token t u then without l' ts' else None)

(** val until_sign : string -> token list -> token list * token list **)

let rec until_sign sign = function
| [] -> ([], [])
| t :: ts' ->
  (match t with
   | Sign s ->
     if eqb1 s sign
     then ([], ts')
     else let (l, rest) = until_sign sign ts' in (((Sign s) :: l), rest)
   | _ -> let (l, rest) = until_sign sign ts' in ((t :: l), rest))

(** val extremes : (string * string) list **)

let extremes =
  app
    (map (fun f -> (f, (String ((Ascii (true, false, true, true, false, true,
      true, false)), (String ((Ascii (true, false, false, true, false, true,
      true, false)), (String ((Ascii (false, true, true, true, false, true,
      true, false)), EmptyString)))))))) ((String ((Ascii (true, false, true,
      true, false, true, true, false)), (String ((Ascii (true, false, false,
      true, false, true, true, false)), (String ((Ascii (false, true, true,
      true, false, true, true, false)), EmptyString)))))) :: ((String ((Ascii
      (true, false, true, true, false, false, true, false)), (String ((Ascii
      (true, false, false, true, false, false, true, false)), (String ((Ascii
      (false, true, true, true, false, false, true, false)),
      EmptyString)))))) :: ((String ((Ascii (true, false, true, true, false,
      false, true, false)), (String ((Ascii (true, false, false, true, false,
      true, true, false)), (String ((Ascii (false, true, true, true, false,
      true, true, false)), EmptyString)))))) :: ((String ((Ascii (false,
      true, true, false, false, true, true, false)), (String ((Ascii (true,
      false, true, true, false, true, true, false)), (String ((Ascii (true,
      false, false, true, false, true, true, false)), (String ((Ascii (false,
      true, true, true, false, true, true, false)),
      EmptyString)))))))) :: ((String ((Ascii (false, true, true, false,
      false, true, true, false)), (String ((Ascii (true, false, true, true,
      false, true, true, false)), (String ((Ascii (true, false, false, true,
      false, true, true, false)), (String ((Ascii (false, true, true, true,
      false, true, true, false)), (String ((Ascii (false, true, true, false,
      false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
      (false, true, true, false, false, true, true, false)), (String ((Ascii
      (true, false, true, true, false, true, true, false)), (String ((Ascii
      (true, false, false, true, false, true, true, false)), (String ((Ascii
      (false, true, true, true, false, true, true, false)), (String ((Ascii
      (false, false, true, true, false, true, true, false)),
      EmptyString)))))))))) :: [])))))))
    (map (fun f -> (f, (String ((Ascii (true, false, true, true, false, true,
      true, false)), (String ((Ascii (true, false, false, false, false, true,
      true, false)), (String ((Ascii (false, false, false, true, true, true,
      true, false)), EmptyString)))))))) ((String ((Ascii (true, false, true,
      true, false, true, true, false)), (String ((Ascii (true, false, false,
      false, false, true, true, false)), (String ((Ascii (false, false,
      false, true, true, true, true, false)), EmptyString)))))) :: ((String
      ((Ascii (true, false, true, true, false, false, true, false)), (String
      ((Ascii (true, false, false, false, false, false, true, false)),
      (String ((Ascii (false, false, false, true, true, false, true, false)),
      EmptyString)))))) :: ((String ((Ascii (true, false, true, true, false,
      false, true, false)), (String ((Ascii (true, false, false, false,
      false, true, true, false)), (String ((Ascii (false, false, false, true,
      true, true, true, false)), EmptyString)))))) :: ((String ((Ascii
      (false, true, true, false, false, true, true, false)), (String ((Ascii
      (true, false, true, true, false, true, true, false)), (String ((Ascii
      (true, false, false, false, false, true, true, false)), (String ((Ascii
      (false, false, false, true, true, true, true, false)),
      EmptyString)))))))) :: ((String ((Ascii (false, true, true, false,
      false, true, true, false)), (String ((Ascii (true, false, true, true,
      false, true, true, false)), (String ((Ascii (true, false, false, false,
      false, true, true, false)), (String ((Ascii (false, false, false, true,
      true, true, true, false)), (String ((Ascii (false, true, true, false,
      false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
      (false, true, true, false, false, true, true, false)), (String ((Ascii
      (true, false, true, true, false, true, true, false)), (String ((Ascii
      (true, false, false, false, false, true, true, false)), (String ((Ascii
      (false, false, false, true, true, true, true, false)), (String ((Ascii
      (false, false, true, true, false, true, true, false)),
      EmptyString)))))))))) :: [])))))))

(** val in_short : token list -> token list **)

let in_short ts =
  let (target, rest) =
    until_sign (String ((Ascii (true, false, true, true, true, true, false,
      false)), EmptyString)) ts
  in
  let extreme =
    match rest with
    | [] -> None
    | t :: l ->
      (match t with
       | Word f ->
         (match l with
          | [] -> None
          | t0 :: _ ->
            (match t0 with
             | Word _ -> None
             | Number (_, _) -> None
             | Sign _ -> find (fun one -> eqb1 f (fst one)) extremes
             | _ -> None))
       | _ -> None)
  in
  (match extreme with
   | Some p ->
     let (f, k) = p in
     (match without
              (app ((Word f) :: ((Sign (String ((Ascii (false, false, false,
                true, false, true, false, false)), EmptyString))) :: []))
                (app target ((Sign (String ((Ascii (false, false, true, true,
                  false, true, false, false)), EmptyString))) :: []))) rest with
      | Some e ->
        (match rev e with
         | [] -> ts
         | t :: e' ->
           (match t with
            | Sign s ->
              if (&&)
                   (eqb1 s (String ((Ascii (true, false, false, true, false,
                     true, false, false)), EmptyString)))
                   (only_signs ((String ((Ascii (true, true, false, true,
                     false, true, false, false)), EmptyString)) :: ((String
                     ((Ascii (true, false, true, true, false, true, false,
                     false)), EmptyString)) :: ((String ((Ascii (false, true,
                     false, true, false, true, false, false)),
                     EmptyString)) :: ((String ((Ascii (true, true, true,
                     true, false, true, false, false)),
                     EmptyString)) :: ((String ((Ascii (false, true, true,
                     true, false, true, false, false)),
                     EmptyString)) :: []))))) O (rev e'))
              then app target ((Sign
                     (append k (String ((Ascii (true, false, true, true,
                       true, true, false, false)), EmptyString)))) :: 
                     (rev e'))
              else ts
            | _ -> ts))
      | None -> ts)
   | None ->
     (match without target rest with
      | Some l ->
        (match l with
         | [] -> ts
         | t :: e ->
           (match t with
            | Sign k ->
              let allowed =
                if among ((String ((Ascii (true, true, false, true, false,
                     true, false, false)), EmptyString)) :: ((String ((Ascii
                     (true, false, true, true, false, true, false, false)),
                     EmptyString)) :: [])) k
                then (String ((Ascii (true, true, false, true, false, true,
                       false, false)), EmptyString)) :: ((String ((Ascii
                       (true, false, true, true, false, true, false, false)),
                       EmptyString)) :: ((String ((Ascii (false, true, false,
                       true, false, true, false, false)),
                       EmptyString)) :: ((String ((Ascii (true, true, true,
                       true, false, true, false, false)),
                       EmptyString)) :: ((String ((Ascii (true, false, true,
                       false, false, true, false, false)),
                       EmptyString)) :: ((String ((Ascii (false, true, true,
                       true, false, true, false, false)),
                       EmptyString)) :: [])))))
                else if eqb1 k (String ((Ascii (false, true, false, true,
                          false, true, false, false)), EmptyString))
                     then (String ((Ascii (false, true, false, true, false,
                            true, false, false)), EmptyString)) :: ((String
                            ((Ascii (false, true, true, true, false, true,
                            false, false)), EmptyString)) :: [])
                     else []
              in
              if (&&) (among allowed k) (only_signs allowed O e)
              then app target ((Sign
                     (append k (String ((Ascii (true, false, true, true,
                       true, true, false, false)), EmptyString)))) :: e)
              else ts
            | _ -> ts))
      | None -> ts))

(** val is_step : string -> token list -> mention list -> bool **)

let is_step operator ts = function
| [] -> false
| m :: l' ->
  (match m.touching with
   | Updates sign ->
     (&&)
       ((&&)
         ((&&) (eqb1 (operator_in sign) operator)
           (negb
             (among ((String ((Ascii (true, true, true, true, false, true,
               false, false)), EmptyString)) :: ((String ((Ascii (true,
               false, true, false, false, true, false, false)),
               EmptyString)) :: ((String ((Ascii (false, false, true, true,
               true, true, false, false)), EmptyString)) :: ((String ((Ascii
               (false, true, true, true, true, true, false, false)),
               EmptyString)) :: [])))) (operator_in sign))))
         (forallb (fun m' ->
           match m'.touching with
           | Reads -> true
           | _ -> false) l'))
       (only_signs ((String ((Ascii (true, true, false, true, false, true,
         false, false)), EmptyString)) :: ((String ((Ascii (true, false,
         true, true, false, true, false, false)), EmptyString)) :: ((String
         ((Ascii (false, true, false, true, false, true, false, false)),
         EmptyString)) :: ((String ((Ascii (true, true, true, true, false,
         true, false, false)), EmptyString)) :: ((String ((Ascii (true,
         false, true, false, false, true, false, false)),
         EmptyString)) :: ((String ((Ascii (false, true, true, true, false,
         true, false, false)), EmptyString)) :: ((String ((Ascii (true, true,
         true, true, true, true, false, false)), EmptyString)) :: ((String
         ((Ascii (false, true, false, true, true, true, false, false)),
         EmptyString)) :: ((String ((Ascii (false, false, true, true, true,
         true, false, false)), EmptyString)) :: ((String ((Ascii (false,
         false, true, true, true, true, false, false)), (String ((Ascii
         (true, false, true, true, true, true, false, false)),
         EmptyString)))) :: ((String ((Ascii (false, true, true, true, true,
         true, false, false)), EmptyString)) :: ((String ((Ascii (false,
         true, true, true, true, true, false, false)), (String ((Ascii (true,
         false, true, true, true, true, false, false)),
         EmptyString)))) :: ((String ((Ascii (true, false, true, true, true,
         true, false, false)), (String ((Ascii (true, false, true, true,
         true, true, false, false)), EmptyString)))) :: ((String ((Ascii
         (true, false, false, false, false, true, false, false)), (String
         ((Ascii (true, false, true, true, true, true, false, false)),
         EmptyString)))) :: ((String ((Ascii (false, true, true, false,
         false, true, false, false)), (String ((Ascii (false, true, true,
         false, false, true, false, false)), EmptyString)))) :: ((String
         ((Ascii (false, false, true, true, true, true, true, false)),
         (String ((Ascii (false, false, true, true, true, true, true,
         false)), EmptyString)))) :: ((String ((Ascii (true, false, false,
         false, false, true, false, false)), EmptyString)) :: ((String
         ((Ascii (false, true, true, false, false, true, false, false)),
         EmptyString)) :: ((String ((Ascii (false, false, true, true, true,
         true, true, false)), EmptyString)) :: ((String ((Ascii (false, true,
         true, true, true, false, true, false)),
         EmptyString)) :: (sign :: []))))))))))))))))))))) O ts)
   | _ -> false)

(** val equations : test -> (expr * expr) list **)

let rec equations = function
| Compare (r, a, b) -> (match r with
                        | EQ -> (a, b) :: []
                        | _ -> [])
| And l -> flat_map equations l
| _ -> []

(** val coefficient : expr -> affine -> z **)

let coefficient x f =
  fold_right (fun one k ->
    if same_expr x (fst one) then Z.add (snd one) k else k) Z0 (snd f)

(** val eliminated : affine -> affine -> affine **)

let eliminated q f =
  match find (fun one -> negb (Z.eqb (snd one) Z0)) (snd q) with
  | Some p -> let (x, k) = p in plus0 f (Z.opp (Z.div (coefficient x f) k)) q
  | None -> f

(** val difference :
    (string * expr) list -> string list -> (string -> affine option) -> expr
    -> expr -> affine option **)

let difference s iterators var a b =
  match affine_of (instead s iterators) a with
  | Some f ->
    (match affine_of var b with
     | Some g -> Some (plus0 f (Zneg XH) g)
     | None -> None)
  | None -> None

(** val zeros : (string * expr) list -> test -> string list -> affine list **)

let zeros s domain iterators =
  flat_map (fun ab ->
    match difference s iterators (instead s iterators) (fst ab) (snd ab) with
    | Some q -> q :: []
    | None -> []) (equations domain)

(** val equal_subscripts :
    (string * expr) list -> test -> string list -> expr -> expr -> bool **)

let equal_subscripts s domain iterators told0 text =
  match difference s iterators itself told0 text with
  | Some f -> is_nothing (fold_right eliminated f (zeros s domain iterators))
  | None -> false

(** val is_cell :
    (string * expr) list -> test -> string list -> expr list option -> place
    -> bool **)

let is_cell s domain iterators subs c =
  match snd c with
  | [] -> true
  | e :: l0 ->
    let told0 = e :: l0 in
    (match subs with
     | Some l ->
       (&&) (Nat.eqb (length told0) (length l))
         (forallb (fun ab ->
           equal_subscripts s domain iterators (fst ab) (snd ab))
           (combine told0 l))
     | None -> false)

(** val is_said :
    (string * expr) list -> test -> string list -> place list -> mention ->
    bool **)

let is_said s domain iterators l m =
  existsb (fun c ->
    (&&) (eqb1 m.mentioned (fst c))
      (is_cell s domain iterators m.subscripted c)) l

(** val is_certain :
    (string * expr) list -> string list -> mention -> bool **)

let is_certain s names m =
  let known0 = fun x ->
    if among
         (app
           (flat_map (fun one ->
             match snd one with
             | Var y -> y :: []
             | _ -> []) s) names) x
    then itself x
    else None
  in
  (match m.subscripted with
   | Some l ->
     forallb (fun a ->
       match affine_of known0 a with
       | Some f ->
         forallb (fun one -> match fst one with
                             | Var _ -> true
                             | _ -> false) (snd f)
       | None -> false) l
   | None -> false)

(** val accounts :
    (string * expr) list -> test -> string list -> string list -> string list
    -> string list -> use -> bool -> mention -> bool option **)

let accounts s domain iterators around names written0 u step m =
  let wrote =
    match m.touching with
    | Reads -> true
    | _ -> is_said s domain iterators u.may_write m
  in
  let read =
    match m.touching with
    | Reads ->
      (||) (negb (among written0 m.mentioned))
        (is_said s domain iterators u.may_read m)
    | Writes -> true
    | Updates _ -> (||) step (is_said s domain iterators u.may_read m)
  in
  let named = fun l -> existsb (fun c -> eqb1 m.mentioned (fst c)) l in
  let is_number =
    match m.subscripted with
    | Some l ->
      (match l with
       | [] -> among (app around names) m.mentioned
       | _ :: _ -> false)
    | None -> false
  in
  if (||) is_number ((&&) wrote read)
  then Some true
  else if (||)
            ((||) (is_certain s names m)
              ((&&) (negb wrote) (negb (named u.may_write))))
            ((&&) (negb read) (negb (named u.may_read)))
       then Some false
       else None

(** val fuel_of : token list -> nat **)

let fuel_of ts =
  add (mul (S (S (S (S (S (S (S (S (S (S O)))))))))) (length ts)) (S (S (S (S
    (S (S (S (S (S (S O))))))))))

(** val read_statement : use -> string -> (bool * mention list) option **)

let read_statement u text =
  let short =
    match u.combined_by with
    | Some _ -> in_short
    | None -> (fun ts -> ts)
  in
  let ts = short (words text) in
  (match mentions_of (fuel_of ts) None ts with
   | Some l ->
     (match u.combined_by with
      | Some k -> if is_step k ts l then Some (true, l) else None
      | None -> Some (false, l))
   | None -> None)

(** val written_in : (shape * use) list -> told list -> string list **)

let written_in uses0 olds =
  app (flat_map (fun hu -> map fst (snd hu).may_write) uses0)
    (flat_map (fun old ->
      match mentions_of (fuel_of (words (fst old))) None (words (fst old)) with
      | Some l ->
        flat_map (fun m ->
          match m.touching with
          | Reads -> []
          | _ -> m.mentioned :: []) l
      | None -> []) olds)

(** val accounts_for :
    string list -> string list -> string list -> (shape * use) list ->
    (told * string list) -> bool option **)

let accounts_for sizes0 iterators written0 uses0 = function
| (t, around) ->
  let (text, p) = t in
  let (p0, _) = p in
  let (name, args) = p0 in
  (match find (fun hu -> eqb1 name (fst hu).shape_name) uses0 with
   | Some p1 ->
     let (h, u) = p1 in
     (match read_statement u text with
      | Some p2 ->
        let (step, l) = p2 in
        (match h.shape_domain with
         | Or arguments0 ->
           (match arguments0 with
            | [] -> Some true
            | _ :: _ ->
              let all =
                map
                  (accounts (combine h.shape_arguments args) h.shape_domain
                    iterators around sizes0 written0 u step) l
              in
              if existsb (fun a ->
                   match a with
                   | Some y -> if y then false else true
                   | None -> false) all
              then Some false
              else if existsb (fun a ->
                        match a with
                        | Some _ -> false
                        | None -> true) all
                   then None
                   else Some true)
         | _ ->
           let all =
             map
               (accounts (combine h.shape_arguments args) h.shape_domain
                 iterators around sizes0 written0 u step) l
           in
           if existsb (fun a ->
                match a with
                | Some y -> if y then false else true
                | None -> false) all
           then Some false
           else if existsb (fun a ->
                     match a with
                     | Some _ -> false
                     | None -> true) all
                then None
                else Some true)
      | None ->
        (match h.shape_domain with
         | Or arguments0 ->
           (match arguments0 with
            | [] -> Some true
            | _ :: _ -> None)
         | _ -> None))
   | None -> Some false)

(** val uniform : (shape * use) list -> bool **)

let uniform uses0 =
  let places =
    flat_map (fun hu -> app (snd hu).may_read (snd hu).may_write) uses0
  in
  forallb (fun c ->
    forallb (fun d ->
      (||) (negb (eqb1 (fst c) (fst d)))
        (Nat.eqb (length (snd c)) (length (snd d)))) places) places

(** val leaves : counted -> string list **)

let rec leaves = function
| Calling (f, _, _) -> f :: []
| Sequence l -> flat_map leaves l
| Choice (_, a, b) -> app (leaves a) (leaves b)
| Counting (_, _, _, _, b) -> leaves b
| Naming (_, _, b) -> leaves b
| Remark (_, b) -> leaves b

(** val names_in : counted -> string list **)

let rec names_in = function
| Calling (_, _, _) -> []
| Sequence l -> flat_map names_in l
| Choice (_, a, b) -> app (names_in a) (names_in b)
| Counting (x, _, _, _, b) -> x :: (names_in b)
| Naming (x, _, b) -> x :: (names_in b)
| Remark (_, b) -> names_in b

(** val bound_at : string list -> counted -> string list list **)

let rec bound_at around = function
| Calling (_, _, _) -> around :: []
| Sequence l -> flat_map (bound_at around) l
| Choice (_, a, b) -> app (bound_at around a) (bound_at around b)
| Counting (x, _, _, _, b) -> bound_at (x :: around) b
| Naming (x, _, b) -> bound_at (x :: around) b
| Remark (_, b) -> bound_at around b

(** val accounts_of :
    string list -> (shape * use) list -> string -> ((string * expr
    list) * expr list) list -> (string * bool option) list **)

let accounts_of names uses0 text calls =
  match parse true names text with
  | Some n0 ->
    let olds = combine (leaves n0) calls in
    let written0 = written_in uses0 olds in
    map (fun old -> ((fst (fst (snd (fst old)))),
      (accounts_for names (names_in n0) written0 uses0 old)))
      (combine olds (bound_at [] n0))
  | None -> []

(** val accounted :
    string list -> (shape * use) list -> string -> ((string * expr
    list) * expr list) list -> bool **)

let accounted names uses0 text calls =
  (&&) (uniform uses0)
    (forallb (fun one -> match snd one with
                         | Some b -> b
                         | None -> true) (accounts_of names uses0 text calls))

(** val everywhere : (shape * use) list -> (shape * use) list **)

let everywhere uses0 =
  map (fun hu ->
    let h = fst hu in
    ({ shape_name = h.shape_name; shape_arguments = h.shape_arguments;
    shape_hints = h.shape_hints; shape_domain = (And []); shape_time =
    h.shape_time }, (snd hu))) uses0

(** val computing : string list **)

let computing =
  (String ((Ascii (true, true, false, false, true, true, true, false)),
    (String ((Ascii (true, false, false, false, true, true, true, false)),
    (String ((Ascii (false, true, false, false, true, true, true, false)),
    (String ((Ascii (false, false, true, false, true, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (true, true, false, false, true,
    true, true, false)), (String ((Ascii (true, false, false, false, true,
    true, true, false)), (String ((Ascii (false, true, false, false, true,
    true, true, false)), (String ((Ascii (false, false, true, false, true,
    true, true, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))))) :: ((String ((Ascii (true,
    true, false, false, true, true, true, false)), (String ((Ascii (true,
    false, false, false, true, true, true, false)), (String ((Ascii (false,
    true, false, false, true, true, true, false)), (String ((Ascii (false,
    false, true, false, true, true, true, false)), (String ((Ascii (false,
    false, true, true, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, true, false, false,
    false, true, true, false)), (String ((Ascii (false, true, false, false,
    false, true, true, false)), (String ((Ascii (false, true, false, false,
    true, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), EmptyString)))))))) :: ((String ((Ascii (true,
    true, false, false, false, true, true, false)), (String ((Ascii (false,
    true, false, false, false, true, true, false)), (String ((Ascii (false,
    true, false, false, true, true, true, false)), (String ((Ascii (false,
    false, true, false, true, true, true, false)), (String ((Ascii (false,
    true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, true, false, false,
    false, true, true, false)), (String ((Ascii (false, true, false, false,
    false, true, true, false)), (String ((Ascii (false, true, false, false,
    true, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (false, false, false, true, false, true, true, false)), (String ((Ascii
    (true, false, false, true, true, true, true, false)), (String ((Ascii
    (false, false, false, false, true, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, false, false, true,
    false, true, true, false)), (String ((Ascii (true, false, false, true,
    true, true, true, false)), (String ((Ascii (false, false, false, false,
    true, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (false, true, true, false,
    false, true, true, false)), EmptyString)))))))))))) :: ((String ((Ascii
    (false, false, false, true, false, true, true, false)), (String ((Ascii
    (true, false, false, true, true, true, true, false)), (String ((Ascii
    (false, false, false, false, true, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (false, true, true, false,
    false, true, true, false)), (String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, true, false, false,
    false, true, true, false)), (String ((Ascii (true, true, false, false,
    true, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, true, false, false, false, true, true, false)), (String ((Ascii
    (true, true, false, false, true, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, true, true, false,
    false, true, true, false)), (String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, true, false, false,
    false, true, true, false)), (String ((Ascii (true, true, false, false,
    true, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (true, false, true, false, false, true, true, false)), (String ((Ascii
    (false, false, false, true, true, true, true, false)), (String ((Ascii
    (false, false, false, false, true, true, true, false)),
    EmptyString)))))) :: ((String ((Ascii (true, false, true, false, false,
    true, true, false)), (String ((Ascii (false, false, false, true, true,
    true, true, false)), (String ((Ascii (false, false, false, false, true,
    true, true, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))) :: ((String ((Ascii (true,
    false, true, false, false, true, true, false)), (String ((Ascii (false,
    false, false, true, true, true, true, false)), (String ((Ascii (false,
    false, false, false, true, true, true, false)), (String ((Ascii (false,
    false, true, true, false, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (true, false, true, false, false,
    true, true, false)), (String ((Ascii (false, false, false, true, true,
    true, true, false)), (String ((Ascii (false, false, false, false, true,
    true, true, false)), (String ((Ascii (false, true, false, false, true,
    true, false, false)), EmptyString)))))))) :: ((String ((Ascii (true,
    false, true, false, false, true, true, false)), (String ((Ascii (false,
    false, false, true, true, true, true, false)), (String ((Ascii (false,
    false, false, false, true, true, true, false)), (String ((Ascii (false,
    true, false, false, true, true, false, false)), (String ((Ascii (false,
    true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, false, true, false,
    false, true, true, false)), (String ((Ascii (false, false, false, true,
    true, true, true, false)), (String ((Ascii (false, false, false, false,
    true, true, true, false)), (String ((Ascii (false, true, false, false,
    true, true, false, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (true, false, true, false, false, true, true, false)), (String ((Ascii
    (false, false, false, true, true, true, true, false)), (String ((Ascii
    (false, false, false, false, true, true, true, false)), (String ((Ascii
    (true, false, true, true, false, true, true, false)), (String ((Ascii
    (true, false, false, false, true, true, false, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, false, true, false,
    false, true, true, false)), (String ((Ascii (false, false, false, true,
    true, true, true, false)), (String ((Ascii (false, false, false, false,
    true, true, true, false)), (String ((Ascii (true, false, true, true,
    false, true, true, false)), (String ((Ascii (true, false, false, false,
    true, true, false, false)), (String ((Ascii (false, true, true, false,
    false, true, true, false)), EmptyString)))))))))))) :: ((String ((Ascii
    (true, false, true, false, false, true, true, false)), (String ((Ascii
    (false, false, false, true, true, true, true, false)), (String ((Ascii
    (false, false, false, false, true, true, true, false)), (String ((Ascii
    (true, false, true, true, false, true, true, false)), (String ((Ascii
    (true, false, false, false, true, true, false, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (false, false, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, false,
    false, true, true, false)), EmptyString)))))) :: ((String ((Ascii (false,
    false, true, true, false, true, true, false)), (String ((Ascii (true,
    true, true, true, false, true, true, false)), (String ((Ascii (true,
    true, true, false, false, true, true, false)), (String ((Ascii (false,
    true, true, false, false, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (false, false, true, true, false,
    true, true, false)), (String ((Ascii (true, true, true, true, false,
    true, true, false)), (String ((Ascii (true, true, true, false, false,
    true, true, false)), (String ((Ascii (false, false, true, true, false,
    true, true, false)), EmptyString)))))))) :: ((String ((Ascii (false,
    false, true, true, false, true, true, false)), (String ((Ascii (true,
    true, true, true, false, true, true, false)), (String ((Ascii (true,
    true, true, false, false, true, true, false)), (String ((Ascii (false,
    true, false, false, true, true, false, false)),
    EmptyString)))))))) :: ((String ((Ascii (false, false, true, true, false,
    true, true, false)), (String ((Ascii (true, true, true, true, false,
    true, true, false)), (String ((Ascii (true, true, true, false, false,
    true, true, false)), (String ((Ascii (false, true, false, false, true,
    true, false, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))))) :: ((String ((Ascii (false,
    false, true, true, false, true, true, false)), (String ((Ascii (true,
    true, true, true, false, true, true, false)), (String ((Ascii (true,
    true, true, false, false, true, true, false)), (String ((Ascii (false,
    true, false, false, true, true, false, false)), (String ((Ascii (false,
    false, true, true, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, false, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, false,
    false, true, true, false)), (String ((Ascii (true, false, false, false,
    true, true, false, false)), (String ((Ascii (false, false, false, false,
    true, true, false, false)), EmptyString)))))))))) :: ((String ((Ascii
    (false, false, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, false, false, true, true, false)), (String ((Ascii
    (true, false, false, false, true, true, false, false)), (String ((Ascii
    (false, false, false, false, true, true, false, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (false, false, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, false,
    false, true, true, false)), (String ((Ascii (true, false, false, false,
    true, true, false, false)), (String ((Ascii (false, false, false, false,
    true, true, false, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))))) :: ((String ((Ascii
    (false, false, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, false, false, true, true, false)), (String ((Ascii
    (true, false, false, false, true, true, false, false)), (String ((Ascii
    (false, false, false, false, true, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, false, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, false,
    false, true, true, false)), (String ((Ascii (true, false, false, false,
    true, true, false, false)), (String ((Ascii (false, false, false, false,
    true, true, true, false)), (String ((Ascii (false, true, true, false,
    false, true, true, false)), EmptyString)))))))))))) :: ((String ((Ascii
    (false, false, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, false, false, true, true, false)), (String ((Ascii
    (true, false, false, false, true, true, false, false)), (String ((Ascii
    (false, false, false, false, true, true, true, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (false, false, false, false,
    true, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, false,
    true, true, true, false)), EmptyString)))))) :: ((String ((Ascii (false,
    false, false, false, true, true, true, false)), (String ((Ascii (true,
    true, true, true, false, true, true, false)), (String ((Ascii (true,
    true, true, false, true, true, true, false)), (String ((Ascii (false,
    true, true, false, false, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (false, false, false, false,
    true, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, false,
    true, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (true, true, false, false, true, true, true, false)), (String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)),
    EmptyString)))))) :: ((String ((Ascii (true, true, false, false, true,
    true, true, false)), (String ((Ascii (true, false, false, true, false,
    true, true, false)), (String ((Ascii (false, true, true, true, false,
    true, true, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))) :: ((String ((Ascii (true, true,
    false, false, true, true, true, false)), (String ((Ascii (true, false,
    false, true, false, true, true, false)), (String ((Ascii (false, true,
    true, true, false, true, true, false)), (String ((Ascii (false, false,
    true, true, false, true, true, false)), EmptyString)))))))) :: ((String
    ((Ascii (true, true, false, false, false, true, true, false)), (String
    ((Ascii (true, true, true, true, false, true, true, false)), (String
    ((Ascii (true, true, false, false, true, true, true, false)),
    EmptyString)))))) :: ((String ((Ascii (true, true, false, false, false,
    true, true, false)), (String ((Ascii (true, true, true, true, false,
    true, true, false)), (String ((Ascii (true, true, false, false, true,
    true, true, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))) :: ((String ((Ascii (true, true,
    false, false, false, true, true, false)), (String ((Ascii (true, true,
    true, true, false, true, true, false)), (String ((Ascii (true, true,
    false, false, true, true, true, false)), (String ((Ascii (false, false,
    true, true, false, true, true, false)), EmptyString)))))))) :: ((String
    ((Ascii (false, false, true, false, true, true, true, false)), (String
    ((Ascii (true, false, false, false, false, true, true, false)), (String
    ((Ascii (false, true, true, true, false, true, true, false)),
    EmptyString)))))) :: ((String ((Ascii (false, false, true, false, true,
    true, true, false)), (String ((Ascii (true, false, false, false, false,
    true, true, false)), (String ((Ascii (false, true, true, true, false,
    true, true, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))) :: ((String ((Ascii (false,
    false, true, false, true, true, true, false)), (String ((Ascii (true,
    false, false, false, false, true, true, false)), (String ((Ascii (false,
    true, true, true, false, true, true, false)), (String ((Ascii (false,
    false, true, true, false, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (true, true, false, false,
    true, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (true, true, false, false, true, true, true, false)), (String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (true, true, false, false,
    true, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (true, true, false, false, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, true, false, false, true, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (true, true, false, false,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, false, false,
    true, true, true, false)), (String ((Ascii (false, true, true, false,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (true, true, false, false, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, true, false, false, true, true, true, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, true, false, false, true, true, false, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, true, false, false,
    true, true, false, false)), (String ((Ascii (false, true, true, false,
    false, true, true, false)), EmptyString)))))))))))) :: ((String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, false, true, false, true, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, true, false, false, true, true, false, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (true, true, false, false,
    true, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, false, true,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (true, true, false, false, true, true, true, false)), (String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, false, true, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, true, false, false,
    true, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, false, true,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (true, true, false, false, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, true, false, false, true, true, true, false)), (String ((Ascii
    (false, false, false, true, false, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (true, true, false, false, false,
    true, true, false)), (String ((Ascii (true, true, true, true, false,
    true, true, false)), (String ((Ascii (true, true, false, false, true,
    true, true, false)), (String ((Ascii (false, false, false, true, false,
    true, true, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))))) :: ((String ((Ascii (true,
    true, false, false, false, true, true, false)), (String ((Ascii (true,
    true, true, true, false, true, true, false)), (String ((Ascii (true,
    true, false, false, true, true, true, false)), (String ((Ascii (false,
    false, false, true, false, true, true, false)), (String ((Ascii (false,
    false, true, true, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, false, true,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (false, false, true, false, true, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, false, true, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (true, false, false, false,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, false, true,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (false, true, false, false, true, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, true, true, false,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (false, true, false, false,
    true, true, true, false)), (String ((Ascii (false, true, true, false,
    false, true, true, false)), EmptyString)))))))))))) :: ((String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (false, true, false, false, true, true, true, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (true, true, false, false,
    false, true, true, false)), (String ((Ascii (true, false, true, false,
    false, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (true, true, false, false, false, true, true, false)), (String ((Ascii
    (true, false, true, false, false, true, true, false)), (String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (true, true, false, false,
    false, true, true, false)), (String ((Ascii (true, false, true, false,
    false, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (false, true, false, false, true, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, false, true, false, true, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, true, false, false,
    true, true, true, false)), (String ((Ascii (true, true, true, true,
    false, true, true, false)), (String ((Ascii (true, false, true, false,
    true, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    false, true, true, false)), (String ((Ascii (false, true, true, false,
    false, true, true, false)), EmptyString)))))))))))) :: ((String ((Ascii
    (false, true, false, false, true, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (true, false, true, false, true, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, true, false, false, true, true, false)), (String ((Ascii
    (false, false, true, true, false, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (false, true, false, false,
    true, true, true, false)), (String ((Ascii (true, false, true, false,
    true, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, false, false,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (false, false, true, false, true, true, true, false)), (String ((Ascii
    (false, true, false, false, true, true, true, false)), (String ((Ascii
    (true, false, true, false, true, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (true, true, false, false, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))))) :: ((String ((Ascii (false, false, true, false,
    true, true, true, false)), (String ((Ascii (false, true, false, false,
    true, true, true, false)), (String ((Ascii (true, false, true, false,
    true, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (true, true, false, false,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))))) :: ((String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (true, false, true, true, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, true, false, false, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (false, true, true, false, false,
    true, true, false)), (String ((Ascii (true, false, true, true, false,
    true, true, false)), (String ((Ascii (true, true, true, true, false,
    true, true, false)), (String ((Ascii (false, false, true, false, false,
    true, true, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))))) :: ((String ((Ascii (false,
    true, true, false, false, true, true, false)), (String ((Ascii (true,
    false, true, true, false, true, true, false)), (String ((Ascii (true,
    true, true, true, false, true, true, false)), (String ((Ascii (false,
    false, true, false, false, true, true, false)), (String ((Ascii (false,
    false, true, true, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, true, true, false,
    false, true, true, false)), (String ((Ascii (true, false, true, true,
    false, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (true, false, true, true, false, true, true, false)), (String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, true, true, false,
    false, true, true, false)), (String ((Ascii (true, false, true, true,
    false, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (false, true, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (true, false, true, true, false, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, false, false, true, true, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (false, true, true, false, false,
    true, true, false)), (String ((Ascii (true, false, true, true, false,
    true, true, false)), (String ((Ascii (true, false, false, false, false,
    true, true, false)), (String ((Ascii (false, false, false, true, true,
    true, true, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))))) :: ((String ((Ascii (false,
    true, true, false, false, true, true, false)), (String ((Ascii (true,
    false, true, true, false, true, true, false)), (String ((Ascii (true,
    false, false, false, false, true, true, false)), (String ((Ascii (false,
    false, false, true, true, true, true, false)), (String ((Ascii (false,
    false, true, true, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, true, true, false,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    false, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (true, false, true, true,
    false, true, true, false)), EmptyString)))))))) :: ((String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (false, false, true, false, false, true, true, false)), (String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (true, false, true, true, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))) :: ((String ((Ascii (false, true, true, false,
    false, true, true, false)), (String ((Ascii (false, false, true, false,
    false, true, true, false)), (String ((Ascii (true, false, false, true,
    false, true, true, false)), (String ((Ascii (true, false, true, true,
    false, true, true, false)), (String ((Ascii (false, false, true, true,
    false, true, true, false)), EmptyString)))))))))) :: ((String ((Ascii
    (false, true, true, false, false, true, true, false)), (String ((Ascii
    (true, false, true, true, false, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)),
    EmptyString)))))) :: ((String ((Ascii (false, true, true, false, false,
    true, true, false)), (String ((Ascii (true, false, true, true, false,
    true, true, false)), (String ((Ascii (true, false, false, false, false,
    true, true, false)), (String ((Ascii (false, true, true, false, false,
    true, true, false)), EmptyString)))))))) :: ((String ((Ascii (false,
    true, true, false, false, true, true, false)), (String ((Ascii (true,
    false, true, true, false, true, true, false)), (String ((Ascii (true,
    false, false, false, false, true, true, false)), (String ((Ascii (false,
    false, true, true, false, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (true, true, false, false, false,
    true, true, false)), (String ((Ascii (true, true, true, true, false,
    true, true, false)), (String ((Ascii (false, false, false, false, true,
    true, true, false)), (String ((Ascii (true, false, false, true, true,
    true, true, false)), (String ((Ascii (true, true, false, false, true,
    true, true, false)), (String ((Ascii (true, false, false, true, false,
    true, true, false)), (String ((Ascii (true, true, true, false, false,
    true, true, false)), (String ((Ascii (false, true, true, true, false,
    true, true, false)), EmptyString)))))))))))))))) :: ((String ((Ascii
    (true, true, false, false, false, true, true, false)), (String ((Ascii
    (true, true, true, true, false, true, true, false)), (String ((Ascii
    (false, false, false, false, true, true, true, false)), (String ((Ascii
    (true, false, false, true, true, true, true, false)), (String ((Ascii
    (true, true, false, false, true, true, true, false)), (String ((Ascii
    (true, false, false, true, false, true, true, false)), (String ((Ascii
    (true, true, true, false, false, true, true, false)), (String ((Ascii
    (false, true, true, true, false, true, true, false)), (String ((Ascii
    (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))))))))))) :: ((String ((Ascii (true, true, false,
    false, false, true, true, false)), (String ((Ascii (true, true, true,
    true, false, true, true, false)), (String ((Ascii (false, false, false,
    false, true, true, true, false)), (String ((Ascii (true, false, false,
    true, true, true, true, false)), (String ((Ascii (true, true, false,
    false, true, true, true, false)), (String ((Ascii (true, false, false,
    true, false, true, true, false)), (String ((Ascii (true, true, true,
    false, false, true, true, false)), (String ((Ascii (false, true, true,
    true, false, true, true, false)), (String ((Ascii (false, false, true,
    true, false, true, true, false)),
    EmptyString)))))))))))))))))) :: ((String ((Ascii (true, false, false,
    false, false, true, true, false)), (String ((Ascii (false, true, false,
    false, false, true, true, false)), (String ((Ascii (true, true, false,
    false, true, true, true, false)), EmptyString)))))) :: ((String ((Ascii
    (false, false, true, true, false, true, true, false)), (String ((Ascii
    (true, false, false, false, false, true, true, false)), (String ((Ascii
    (false, true, false, false, false, true, true, false)), (String ((Ascii
    (true, true, false, false, true, true, true, false)),
    EmptyString)))))))) :: ((String ((Ascii (false, false, true, true, false,
    true, true, false)), (String ((Ascii (false, false, true, true, false,
    true, true, false)), (String ((Ascii (true, false, false, false, false,
    true, true, false)), (String ((Ascii (false, true, false, false, false,
    true, true, false)), (String ((Ascii (true, true, false, false, true,
    true, true, false)), EmptyString)))))))))) :: ((String ((Ascii (true,
    false, true, true, false, true, true, false)), (String ((Ascii (true,
    false, false, true, false, true, true, false)), (String ((Ascii (false,
    true, true, true, false, true, true, false)),
    EmptyString)))))) :: ((String ((Ascii (true, false, true, true, false,
    true, true, false)), (String ((Ascii (true, false, false, false, false,
    true, true, false)), (String ((Ascii (false, false, false, true, true,
    true, true, false)), EmptyString)))))) :: ((String ((Ascii (true, false,
    true, true, false, false, true, false)), (String ((Ascii (true, false,
    false, true, false, false, true, false)), (String ((Ascii (false, true,
    true, true, false, false, true, false)), EmptyString)))))) :: ((String
    ((Ascii (true, false, true, true, false, false, true, false)), (String
    ((Ascii (true, false, false, false, false, false, true, false)), (String
    ((Ascii (false, false, false, true, true, false, true, false)),
    EmptyString)))))) :: ((String ((Ascii (true, false, true, true, false,
    false, true, false)), (String ((Ascii (true, false, false, true, false,
    true, true, false)), (String ((Ascii (false, true, true, true, false,
    true, true, false)), EmptyString)))))) :: ((String ((Ascii (true, false,
    true, true, false, false, true, false)), (String ((Ascii (true, false,
    false, false, false, true, true, false)), (String ((Ascii (false, false,
    false, true, true, true, true, false)), EmptyString)))))) :: ((String
    ((Ascii (true, true, false, false, true, true, true, false)), (String
    ((Ascii (true, false, false, true, false, true, true, false)), (String
    ((Ascii (false, true, false, true, true, true, true, false)), (String
    ((Ascii (true, false, true, false, false, true, true, false)), (String
    ((Ascii (true, true, true, true, false, true, true, false)), (String
    ((Ascii (false, true, true, false, false, true, true, false)),
    EmptyString)))))))))))) :: [])))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val calls_others : token list -> bool **)

let rec calls_others = function
| [] -> false
| t :: ts' ->
  (match t with
   | Word f ->
     (||)
       (match ts' with
        | [] -> false
        | t0 :: _ ->
          (match t0 with
           | Sign s ->
             (&&)
               (eqb1 s (String ((Ascii (false, false, false, true, false,
                 true, false, false)), EmptyString)))
               (negb (among computing f))
           | _ -> false)) (calls_others ts')
   | _ -> calls_others ts')

(** val as_told :
    string list -> (shape * use) list -> string -> ((string * expr
    list) * expr list) list -> string list **)

let as_told names uses0 text calls =
  match parse true names text with
  | Some n0 ->
    flat_map (fun one ->
      let (ws, y) = one in
      let (name, y0) = y in
      (match y0 with
       | Some _ -> if calls_others (words ws) then name :: [] else []
       | None -> name :: []))
      (combine (leaves n0) (accounts_of names uses0 text calls))
  | None -> []

type source =
| Term of counted
| Printed of string * expr list list
| Region of string * bool list * ((string * expr list) * expr list) list

(** val replaced :
    (string -> expr list -> 'a1 -> (counted * 'a1) option) -> ('a1 ->
    ((counted -> counted) * 'a1) option) -> (string -> 'a1 -> (counted ->
    counted) option) -> counted -> 'a1 -> (counted * 'a1) option **)

let rec replaced call loop remark n0 s =
  match n0 with
  | Calling (f, args, _) -> call f args s
  | Sequence l ->
    (match let rec each l0 s0 =
             match l0 with
             | [] -> Some ([], s0)
             | c :: l' ->
               (match replaced call loop remark c s0 with
                | Some p ->
                  let (c', s') = p in
                  (match each l' s' with
                   | Some p0 -> let (l'', s'') = p0 in Some ((c' :: l''), s'')
                   | None -> None)
                | None -> None)
           in each l s with
     | Some p -> let (l', s') = p in Some ((Sequence l'), s')
     | None -> None)
  | Choice (c, a, b) ->
    (match replaced call loop remark a s with
     | Some p ->
       let (a', s') = p in
       (match replaced call loop remark b s' with
        | Some p0 -> let (b', s'') = p0 in Some ((Choice (c, a', b')), s'')
        | None -> None)
     | None -> None)
  | Counting (x, a, c, k, b) ->
    (match loop s with
     | Some p ->
       let (wrap, s') = p in
       (match replaced call loop remark b s' with
        | Some p0 ->
          let (b', s'') = p0 in Some ((wrap (Counting (x, a, c, k, b'))), s'')
        | None -> None)
     | None -> None)
  | Naming (x, a, b) ->
    (match replaced call loop remark b s with
     | Some p -> let (b', s') = p in Some ((Naming (x, a, b')), s')
     | None -> None)
  | Remark (text, b) ->
    (match remark text s with
     | Some wrap ->
       (match replaced call loop remark b s with
        | Some p -> let (b', s') = p in Some ((wrap b'), s')
        | None -> None)
     | None -> None)

(** val hinted : counted -> expr list list -> counted option **)

let hinted n0 hints =
  match replaced (fun f args hs ->
          match hs with
          | [] -> None
          | h :: hs' -> Some ((Calling (f, args, h)), hs')) (fun hs -> Some
          ((fun n1 -> n1), hs)) (fun text _ -> Some (fun x -> Remark (text,
          x))) n0 hints with
  | Some p -> let (n', l) = p in (match l with
                                  | [] -> Some n'
                                  | _ :: _ -> None)
  | None -> None

(** val told_as :
    counted -> bool list -> ((string * expr list) * expr list) list ->
    counted option **)

let told_as n0 marks calls =
  match replaced (fun _ _ s ->
          match snd s with
          | [] -> None
          | p :: rest ->
            let (p0, hint) = p in
            let (f, args) = p0 in
            Some ((Calling (f, args, hint)), ((fst s), rest))) (fun s ->
          match fst s with
          | [] -> None
          | m :: rest ->
            Some ((fun x -> if m then Remark (parallel, x) else x), (rest,
              (snd s)))) (fun _ s ->
          match fst s with
          | [] -> None
          | b :: _ -> if b then Some (fun n1 -> n1) else None) n0 (marks,
          calls) with
  | Some p ->
    let (n', p0) = p in
    let (l, l0) = p0 in
    (match l with
     | [] -> (match l0 with
              | [] -> Some n'
              | _ :: _ -> None)
     | _ :: _ -> None)
  | None -> None

(** val given : string list -> source -> counted option **)

let given names = function
| Term n0 -> Some n0
| Printed (text, hints) ->
  (match hints with
   | [] -> parse false names text
   | _ :: _ ->
     (match parse false names text with
      | Some n0 -> hinted n0 hints
      | None -> None))
| Region (text, marks, calls) ->
  (match parse true names text with
   | Some n0 -> told_as n0 marks calls
   | None -> None)

(** val readable : string list -> source -> counted option **)

let readable names p =
  match given names p with
  | Some n0 -> if proper names n0 then Some n0 else None
  | None -> None

(** val check_text :
    specification -> source -> proposal -> certificate list -> bool **)

let check_text g p how cs =
  match readable g.sizes p with
  | Some n0 -> check g (lowered n0) how cs
  | None -> false

(** val said : string list -> (shape * use) list -> source -> bool **)

let said names uses0 = function
| Region (text, _, calls) -> accounted names uses0 text calls
| _ -> true

(** val agreeing : change -> source -> source -> bool **)

let agreeing t p p' =
  let names = t.original.sizes in
  (&&) (said names (combine t.original.shapes t.uses) p)
    (match p with
     | Term _ -> (match p' with
                  | Region (_, _, _) -> false
                  | _ -> true)
     | Printed (_, _) -> (match p' with
                          | Region (_, _, _) -> false
                          | _ -> true)
     | Region (text, _, calls) ->
       (match p' with
        | Region (text', _, calls') ->
          (match parse true names text with
           | Some n0 ->
             (match parse true names text' with
              | Some n' ->
                let new0 = names_in n' in
                (&&)
                  (negb
                    (existsb (fun x -> existsb (eqb1 x) names)
                      (app (names_in n0) new0)))
                  (forallb (is_instance (combine (leaves n0) calls) new0)
                    (combine (leaves n') calls'))
              | None -> false)
           | None -> false)
        | _ -> true))

(** val both_readable :
    change -> source -> source -> (counted * counted) option **)

let both_readable t p p' =
  match readable t.original.sizes p with
  | Some n0 ->
    (match readable t.original.sizes p' with
     | Some n' -> if agreeing t p p' then Some (n0, n') else None
     | None -> None)
  | None -> None

(** val check_text_change :
    change -> source -> source -> proposal -> proposal -> certificate list ->
    bool **)

let check_text_change t p p' how how' cs =
  match both_readable t p p' with
  | Some p0 ->
    let (n0, n') = p0 in check_change t (lowered n0) (lowered n') how how' cs
  | None -> false

(** val check_text_private :
    change -> (nat * storage) list -> source -> source -> proposal ->
    proposal -> certificate list -> bool **)

let check_text_private t ss p p' how how' cs =
  match both_readable t p p' with
  | Some p0 ->
    let (n0, n') = p0 in
    check_private t ss (lowered n0) (lowered n') how how' cs
  | None -> false

(** val check_text_reused :
    change -> storage -> source -> source -> proposal -> proposal ->
    certificate list -> bool **)

let check_text_reused t s p p' how how' cs =
  match both_readable t p p' with
  | Some p0 ->
    let (n0, n') = p0 in
    check_reused t s (lowered n0) (lowered n') how how' cs
  | None -> false

(** val check_text_stored :
    stored -> source -> source -> proposal -> proposal -> certificate list ->
    bool **)

let check_text_stored u p p' how how' cs =
  match readable u.written.sizes p with
  | Some n0 ->
    (match readable u.written.sizes p' with
     | Some n' ->
       (&&) (said u.written.sizes (as_written u) p)
         (check_stored u (lowered n0) (lowered n') how how' cs)
     | None -> false)
  | None -> false

(** val relation_dec : relation -> relation -> bool **)

let relation_dec r s =
  match r with
  | EQ -> (match s with
           | EQ -> true
           | _ -> false)
  | NE -> (match s with
           | NE -> true
           | _ -> false)
  | LE -> (match s with
           | LE -> true
           | _ -> false)
  | LT -> (match s with
           | LT -> true
           | _ -> false)
  | GE -> (match s with
           | GE -> true
           | _ -> false)
  | GT -> (match s with
           | GT -> true
           | _ -> false)

(** val expr_dec : expr -> expr -> bool **)

let rec expr_dec a b =
  match a with
  | Int value ->
    (match b with
     | Int value0 -> Z.eq_dec value value0
     | _ -> false)
  | Var name -> (match b with
                 | Var name0 -> string_dec name name0
                 | _ -> false)
  | Sum terms ->
    (match b with
     | Sum terms0 -> list_eq_dec expr_dec terms terms0
     | _ -> false)
  | Scaled (factor, argument) ->
    (match b with
     | Scaled (factor0, argument0) ->
       if Z.eq_dec factor factor0 then expr_dec argument argument0 else false
     | _ -> false)
  | FloorDiv (argument, divisor) ->
    (match b with
     | FloorDiv (argument0, divisor0) ->
       if expr_dec argument argument0
       then Coq_Pos.eq_dec divisor divisor0
       else false
     | _ -> false)
  | TruncDiv (argument, divisor) ->
    (match b with
     | TruncDiv (argument0, divisor0) ->
       if expr_dec argument argument0
       then Coq_Pos.eq_dec divisor divisor0
       else false
     | _ -> false)
  | Rem (argument, divisor) ->
    (match b with
     | Rem (argument0, divisor0) ->
       if expr_dec argument argument0
       then Coq_Pos.eq_dec divisor divisor0
       else false
     | _ -> false)
  | Min arguments0 ->
    (match b with
     | Min arguments1 -> list_eq_dec expr_dec arguments0 arguments1
     | _ -> false)
  | Max arguments0 ->
    (match b with
     | Max arguments1 -> list_eq_dec expr_dec arguments0 arguments1
     | _ -> false)
  | Select (condition, yes, no) ->
    (match b with
     | Select (condition0, yes0, no0) ->
       if test_dec condition condition0
       then if expr_dec yes yes0 then expr_dec no no0 else false
       else false
     | _ -> false)

(** val test_dec : test -> test -> bool **)

and test_dec t u =
  match t with
  | Compare (r, left0, right) ->
    (match u with
     | Compare (r0, left1, right0) ->
       if relation_dec r r0
       then if expr_dec left0 left1 then expr_dec right right0 else false
       else false
     | _ -> false)
  | And arguments0 ->
    (match u with
     | And arguments1 -> list_eq_dec test_dec arguments0 arguments1
     | _ -> false)
  | Or arguments0 ->
    (match u with
     | Or arguments1 -> list_eq_dec test_dec arguments0 arguments1
     | _ -> false)
  | Not argument ->
    (match u with
     | Not argument0 -> test_dec argument argument0
     | _ -> false)

(** val counted_dec : counted -> counted -> bool **)

let rec counted_dec n0 m =
  match n0 with
  | Calling (name, arguments0, hint) ->
    (match m with
     | Calling (name0, arguments1, hint0) ->
       if string_dec name name0
       then if list_eq_dec expr_dec arguments0 arguments1
            then list_eq_dec expr_dec hint hint0
            else false
       else false
     | _ -> false)
  | Sequence children ->
    (match m with
     | Sequence children0 -> list_eq_dec counted_dec children children0
     | _ -> false)
  | Choice (condition, yes, no) ->
    (match m with
     | Choice (condition0, yes0, no0) ->
       if test_dec condition condition0
       then if counted_dec yes yes0 then counted_dec no no0 else false
       else false
     | _ -> false)
  | Counting (iterator, start, continue, step, body) ->
    (match m with
     | Counting (iterator0, start0, continue0, step0, body0) ->
       if string_dec iterator iterator0
       then if expr_dec start start0
            then if test_dec continue continue0
                 then if Z.eq_dec step step0
                      then counted_dec body body0
                      else false
                 else false
            else false
       else false
     | _ -> false)
  | Naming (name, value, body) ->
    (match m with
     | Naming (name0, value0, body0) ->
       if string_dec name name0
       then if expr_dec value value0 then counted_dec body body0 else false
       else false
     | _ -> false)
  | Remark (text, body) ->
    (match m with
     | Remark (text0, body0) ->
       if string_dec text text0 then counted_dec body body0 else false
     | _ -> false)

(** val place_dec : place -> place -> bool **)

let place_dec c d =
  let (a, b) = c in
  let (a0, b0) = d in
  if string_dec a a0 then list_eq_dec expr_dec b b0 else false

(** val use_dec : use -> use -> bool **)

let use_dec u v =
  let { may_read = may_read0; may_write = may_write0; combined_by =
    combined_by0 } = u
  in
  let { may_read = may_read1; may_write = may_write1; combined_by =
    combined_by1 } = v
  in
  if list_eq_dec place_dec may_read0 may_read1
  then if list_eq_dec place_dec may_write0 may_write1
       then (match combined_by0 with
             | Some a ->
               (match combined_by1 with
                | Some a0 -> string_dec a a0
                | None -> false)
             | None ->
               (match combined_by1 with
                | Some _ -> false
                | None -> true))
       else false
  else false

type division = (string * string) list

(** val whole : division -> string -> string **)

let whole r f =
  match find (fun one -> eqb1 f (fst one)) r with
  | Some one -> snd one
  | None -> f

(** val joined : division -> counted -> counted **)

let rec joined r = function
| Calling (f, args, hint) -> Calling ((whole r f), args, hint)
| Sequence l -> Sequence (map (joined r) l)
| Choice (c, a, b) ->
  let a' = joined r a in
  let b' = joined r b in if counted_dec a' b' then a' else Choice (c, a', b')
| Counting (x, a, c, s, b) -> Counting (x, a, c, s, (joined r b))
| Naming (x, a, b) -> Naming (x, a, (joined r b))
| Remark (text, b) -> Remark (text, (joined r b))

(** val entry : (shape * use) list -> string -> (shape * use) option **)

let entry l f =
  find (fun hu -> eqb1 f (fst hu).shape_name) l

(** val is_part : (shape * use) list -> (string * string) -> bool **)

let is_part l one =
  match entry l (fst one) with
  | Some p ->
    let (h, u) = p in
    (match entry l (snd one) with
     | Some p0 ->
       let (g, v) = p0 in
       if list_eq_dec string_dec h.shape_arguments g.shape_arguments
       then if use_dec u v then true else false
       else false
     | None -> false)
  | None -> false

(** val check_divided :
    stored -> division -> source -> counted -> source -> proposal -> proposal
    -> certificate list -> bool **)

let check_divided u r p n0 p' how how' cs =
  match given u.written.sizes p with
  | Some m ->
    (&&)
      ((&&)
        ((&&)
          ((&&) (said u.written.sizes (everywhere (as_written u)) p)
            (if counted_dec (joined r n0) m then true else false))
          (forallb (is_part (as_written u)) r))
        (forallb (fun h ->
          negb (existsb (fun one -> eqb1 h.shape_name (fst one)) r))
          u.copying)) (check_text_stored u (Term n0) p' how how' cs)
  | None -> false

type product = string * (string list * place list)

(** val product_named : product list -> string -> product option **)

let product_named l x =
  find (fun q -> eqb1 x (fst q)) l

(** val is_product : product list -> string -> bool **)

let is_product l x =
  match product_named l x with
  | Some _ -> true
  | None -> false

(** val is_written : (shape * use) list -> string -> bool **)

let is_written l x =
  existsb (fun hu -> existsb (fun c -> eqb1 x (fst c)) (snd hu).may_write) l

(** val constant_products : product list -> (shape * use) list -> bool **)

let constant_products q l =
  forallb (fun one ->
    (&&) (negb (is_written l (fst one)))
      (forallb (fun c -> negb (is_written l (fst c))) (snd (snd one)))) q

(** val own_copy : storage -> (expr list * copy) -> copy **)

let own_copy s tc =
  { copied = (snd tc).copied; copied_from =
    (own_place s (fst tc) (snd tc).copied_from); copied_to =
    (own_place s (fst tc) (snd tc).copied_to) }

(** val owning : stored -> storage -> stored **)

let owning u s =
  { written = u.written; middle_times = u.middle_times; uses_before =
    u.uses_before; uses_after =
    (map (own_use s) (combine s.tags u.uses_after)); copying = u.copying;
    copies =
    (map (own_copy s) (combine (skipn (length u.uses_after) s.tags) u.copies));
    last_times = u.last_times; replaced_arrays = u.replaced_arrays; seen =
    u.seen; left = u.left }

type level =
| Entered of nat
| Parts of level list

type layered = level * storage

(** val owning_all : stored -> layered list -> stored **)

let owning_all u ss =
  fold_left (fun v kS -> owning v (snd kS)) ss u

(** val level_goals :
    part list -> scope -> level -> lin list -> scope -> state -> node -> goal
    list **)

let rec level_goals parts0 c0 l way c s n0 =
  match l with
  | Entered k -> tag_goals parts0 c0 k false way c s n0
  | Parts ls ->
    (match n0 with
     | Block ns ->
       let rec each k ns0 ls0 =
         match ns0 with
         | [] -> []
         | n' :: ns' ->
           (match ls0 with
            | [] -> unfit
            | l' :: ls' ->
              app
                (level_goals parts0 c0 l' (app way ((number k) :: [])) c s n')
                (each (Z.add k (Zpos XH)) ns' ls'))
       in each Z0 ns ls
     | If (t, a, b) ->
       let (f, s1) = known c true t s in
       let (f', s1') = known c false t s in
       app (level_goals parts0 c0 l way c (assume f s1) a)
         (level_goals parts0 c0 l way c (assume f' s1') b)
     | _ -> unfit)

(** val tags_goals : stored -> node -> layered -> goal list **)

let tags_goals u n0 kS =
  let t = last_change u in
  let (c, s) = beginning t.original in
  level_goals (all_parts t (snd kS)) c (fst kS) [] c s n0

(** val buffer_goals : stored -> layered list -> node -> goal list **)

let buffer_goals u ss n0 =
  flat_map (tags_goals u n0) ss

(** val check_buffered :
    stored -> layered list -> product list -> division -> source -> counted
    -> source -> proposal -> proposal -> certificate list -> bool **)

let check_buffered u ss q r p n0 p' how how' cs =
  let v = owning_all u ss in
  (match readable u.written.sizes p' with
   | Some n' ->
     let gs = buffer_goals u ss (lowered n') in
     let k = length gs in
     (&&)
       ((&&)
         ((&&)
           ((&&)
             ((&&)
               (forallb (fun kS ->
                 (&&) (fitting (last_change u) (snd kS))
                   (forallb (fun x -> negb (is_compared u x))
                     (snd kS).temporaries)) ss)
               (constant_products q (as_written u)))
             (constant_products q (as_stored v)))
           (forallb (fun one ->
             forallb (fun c ->
               (&&) (is_compared u (fst c)) (negb (is_product q (fst c))))
               (snd (snd one))) q)) (refutes_all (firstn k cs) gs))
       (check_divided v r p n0 p' how how' (skipn k cs))
   | None -> false)

type range = z * z

(** val includes : range -> range -> bool **)

let includes r q =
  (&&) (Z.leb (fst r) (fst q)) (Z.leb (snd q) (snd r))

(** val common : range -> range -> range **)

let common r q =
  let size = fun t -> Z.sub (snd t) (fst t) in
  if Z.ltb (size r) (size q)
  then q
  else if Z.ltb (size q) (size r)
       then r
       else if Z.eqb (fst r) Z0 then r else q

type types = { int : range; long : range; kinds : (string * range) list }

(** val own : types -> string -> range **)

let own t x =
  match find (fun one ->
          (||) (eqb1 x (fst one)) (eqb1 x (opposite0 (fst one)))) t.kinds with
  | Some one -> snd one
  | None -> t.int

(** val type_of : types -> expr -> range **)

let rec type_of t = function
| Int _ -> t.int
| Var x -> if includes t.int (own t x) then t.int else own t x
| Sum l ->
  (match l with
   | [] -> fold_right (fun b r -> common (type_of t b) r) t.int l
   | _ :: l0 ->
     (match l0 with
      | [] -> t.long
      | _ :: _ -> fold_right (fun b r -> common (type_of t b) r) t.int l))
| Scaled (_, b) -> common (type_of t b) t.int
| FloorDiv (b, _) -> common (type_of t b) t.int
| TruncDiv (b, _) -> common (type_of t b) t.int
| Rem (b, _) -> common (type_of t b) t.int
| Min l -> fold_right (fun b r -> common (type_of t b) r) t.int l
| Max l -> fold_right (fun b r -> common (type_of t b) r) t.int l
| Select (_, b, c) -> common (type_of t b) (type_of t c)

(** val converted : types -> range -> expr -> (range * expr) list **)

let converted t r a =
  if includes r (type_of t a) then [] else (r, a) :: []

(** val operand0 : expr -> expr **)

let operand0 a = match a with
| Int v -> Int (Z.abs v)
| Scaled (k, b) -> if Z.ltb k Z0 then Scaled ((Z.opp k), b) else a
| _ -> a

(** val total : expr list -> expr **)

let total l = match l with
| [] -> Sum l
| a :: l0 -> (match l0 with
              | [] -> a
              | _ :: _ -> Sum l)

(** val partial_sums :
    types -> expr list -> expr list -> (range * expr) list **)

let rec partial_sums t before = function
| [] -> []
| a :: l' ->
  let all = app before (a :: []) in
  let r = type_of t (total all) in
  (r,
  (total all)) :: (app
                    (match before with
                     | [] -> []
                     | _ :: _ ->
                       app (converted t r (total before))
                         (converted t r (operand0 a)))
                    (partial_sums t all l'))

(** val computed : types -> expr -> (range * expr) list **)

let computed t =
  let rec computed0 a =
    let r = type_of t a in
    (match a with
     | Int v ->
       (r, a) :: (if Z.ltb v Z0 then (r, (Int (Z.opp v))) :: [] else [])
     | Var x -> ((own t x), a) :: []
     | Sum l ->
       (match l with
        | [] -> app (partial_sums t [] l) (flat_map computed0 l)
        | b :: l0 ->
          (match l0 with
           | [] -> app (converted t r b) (computed0 b)
           | _ :: _ -> app (partial_sums t [] l) (flat_map computed0 l)))
     | Scaled (k, b) ->
       (t.int, (Int
         k)) :: (app (converted t r b)
                  (app
                    (if Z.ltb k Z0
                     then (r, (Scaled ((Z.opp k),
                            b))) :: (if Z.ltb (fst r) Z0
                                     then (r, a) :: []
                                     else [])
                     else (r, a) :: []) (computed0 b)))
     | FloorDiv (b, d) ->
       let smaller = Sum (b :: ((Int (Z.opp (Zpos d))) :: [])) in
       (r, a) :: ((t.int, (Int (Zpos d))) :: ((r, smaller) :: ((r, (Scaled
       ((Zneg XH), smaller))) :: (app (converted t r b) (computed0 b)))))
     | TruncDiv (b, d) ->
       (r, a) :: ((t.int, (Int (Zpos
         d))) :: (app (converted t r b) (computed0 b)))
     | Rem (b, d) ->
       (r, a) :: ((t.int, (Int (Zpos
         d))) :: (app (converted t r b) (computed0 b)))
     | Min l ->
       (r, a) :: (app (flat_map (converted t r) l) (flat_map computed0 l))
     | Max l ->
       (r, a) :: (app (flat_map (converted t r) l) (flat_map computed0 l))
     | Select (t0, b, c) ->
       (r,
         a) :: (app (converted t r b)
                 (app (converted t r c)
                   (app (computed_test0 t0) (app (computed0 b) (computed0 c))))))
  and computed_test0 = function
  | Compare (_, a, b) ->
    let r = common (type_of t a) (type_of t b) in
    app (converted t r a)
      (app (converted t r b) (app (computed0 a) (computed0 b)))
  | And l -> flat_map computed_test0 l
  | Or l -> flat_map computed_test0 l
  | Not u -> computed_test0 u
  in computed0

(** val computed_test : types -> test -> (range * expr) list **)

let computed_test t =
  let rec computed0 a =
    let r = type_of t a in
    (match a with
     | Int v ->
       (r, a) :: (if Z.ltb v Z0 then (r, (Int (Z.opp v))) :: [] else [])
     | Var x -> ((own t x), a) :: []
     | Sum l ->
       (match l with
        | [] -> app (partial_sums t [] l) (flat_map computed0 l)
        | b :: l0 ->
          (match l0 with
           | [] -> app (converted t r b) (computed0 b)
           | _ :: _ -> app (partial_sums t [] l) (flat_map computed0 l)))
     | Scaled (k, b) ->
       (t.int, (Int
         k)) :: (app (converted t r b)
                  (app
                    (if Z.ltb k Z0
                     then (r, (Scaled ((Z.opp k),
                            b))) :: (if Z.ltb (fst r) Z0
                                     then (r, a) :: []
                                     else [])
                     else (r, a) :: []) (computed0 b)))
     | FloorDiv (b, d) ->
       let smaller = Sum (b :: ((Int (Z.opp (Zpos d))) :: [])) in
       (r, a) :: ((t.int, (Int (Zpos d))) :: ((r, smaller) :: ((r, (Scaled
       ((Zneg XH), smaller))) :: (app (converted t r b) (computed0 b)))))
     | TruncDiv (b, d) ->
       (r, a) :: ((t.int, (Int (Zpos
         d))) :: (app (converted t r b) (computed0 b)))
     | Rem (b, d) ->
       (r, a) :: ((t.int, (Int (Zpos
         d))) :: (app (converted t r b) (computed0 b)))
     | Min l ->
       (r, a) :: (app (flat_map (converted t r) l) (flat_map computed0 l))
     | Max l ->
       (r, a) :: (app (flat_map (converted t r) l) (flat_map computed0 l))
     | Select (t0, b, c) ->
       (r,
         a) :: (app (converted t r b)
                 (app (converted t r c)
                   (app (computed_test0 t0) (app (computed0 b) (computed0 c))))))
  and computed_test0 = function
  | Compare (_, a, b) ->
    let r = common (type_of t a) (type_of t b) in
    app (converted t r a)
      (app (converted t r b) (app (computed0 a) (computed0 b)))
  | And l -> flat_map computed_test0 l
  | Or l -> flat_map computed_test0 l
  | Not u -> computed_test0 u
  in computed_test0

(** val value_goals : scope -> state -> (range * expr) list -> goal list **)

let value_goals c s l =
  flat_map (fun ra ->
    let (m, s1) = linear c (snd ra) s in
    (exclude (less m (number (fst (fst ra)))) s1) :: ((exclude
                                                        (less
                                                          (number
                                                            (snd (fst ra))) m)
                                                        s1) :: [])) l

(** val range_goals : types -> scope -> state -> node -> goal list **)

let rec range_goals t c s = function
| Call (_, args, _) -> value_goals c s (flat_map (computed t) args)
| Block ns -> flat_map (range_goals t c s) ns
| If (t0, a, b) ->
  let (f, s1) = known c true t0 s in
  let (f', s1') = known c false t0 s in
  app (value_goals c s (computed_test t t0))
    (app (range_goals t c (assume f s1) a)
      (range_goals t c (assume f' s1') b))
| For (x, a, t0, d, b) ->
  let (m, s0) = linear c a s in
  let (v, s1) = fresh s in
  let s2 = in_loop c x a v t0 d s1 in
  let next0 = (x, (plus v (number (Zpos d)))) :: c in
  app (value_goals c s (computed t a))
    (app
      (value_goals ((x, m) :: c) s0 (((own t x), (Var
        x)) :: (computed_test t t0)))
      (app
        (value_goals next0 s2 (((own t x), (Var x)) :: (computed_test t t0)))
        (range_goals t ((x, v) :: c) s2 b)))
| Let (x, a, b) ->
  let (m, s1) = linear c a s in
  app (value_goals c s (computed t a))
    (app (value_goals ((x, m) :: c) s1 (((own t x), (Var x)) :: []))
      (range_goals t ((x, m) :: c) s1 b))
| Mark (_, b) -> range_goals t c s b

(** val subscripts : nat -> token list -> expr list option **)

let rec subscripts fuel = function
| [] -> Some []
| t :: ts' ->
  (match t with
   | Sign s ->
     (match subscripts fuel ts' with
      | Some l ->
        if eqb1 s (String ((Ascii (true, true, false, true, true, false,
             true, false)), EmptyString))
        then (match expression fuel ts' with
              | Some p ->
                let (a, l0) = p in
                (match l0 with
                 | [] -> None
                 | t0 :: _ ->
                   (match t0 with
                    | Sign s' ->
                      if eqb1 s' (String ((Ascii (true, false, true, true,
                           true, false, true, false)), EmptyString))
                      then Some ((value_of a) :: l)
                      else None
                    | _ -> None))
              | None -> None)
        else Some l
      | None -> None)
   | _ -> subscripts fuel ts')

(** val with_subscripts : string list -> string -> counted option **)

let with_subscripts names text =
  match parse true names text with
  | Some n0 ->
    (match replaced (fun f _ s ->
             let ts = words f in
             (match subscripts
                      (add
                        (mul (S (S (S (S (S (S (S (S (S (S O))))))))))
                          (length ts)) (S (S (S (S (S (S (S (S (S (S
                        O))))))))))) ts with
              | Some l -> Some ((Calling (f, l, [])), s)
              | None -> None)) (fun s -> Some ((fun n1 -> n1), s))
             (fun line _ -> Some (fun x -> Remark (line, x))) n0 () with
     | Some p -> let (n', _) = p in if proper names n' then Some n' else None
     | None -> None)
  | None -> None

(** val merge : node -> node list -> node list **)

let merge c l =
  match c with
  | Call (f, args, hint) ->
    (match l with
     | [] -> c :: l
     | n0 :: l' ->
       (match n0 with
        | Call (_, args', _) ->
          (Call (f, (nodup expr_dec (app args args')), hint)) :: l'
        | _ -> c :: l))
  | _ -> c :: l

(** val merged : node -> node **)

let rec merged = function
| Call (f, args, hint) -> Call (f, (nodup expr_dec args), hint)
| Block ns -> Block (fold_right merge [] (map merged ns))
| If (t, a, b) -> If (t, (merged a), (merged b))
| For (x, a, t, d, b) -> For (x, a, t, d, (merged b))
| Let (x, a, b) -> Let (x, a, (merged b))
| Mark (text, b) -> Mark (text, (merged b))

(** val all_range_goals : specification -> types -> counted -> goal list **)

let all_range_goals g t n0 =
  let (c, s) = beginning g in range_goals t c s (merged (lowered n0))

(** val negates : token option -> token list -> bool **)

let rec negates before = function
| [] -> false
| t :: ts' ->
  let operand1 =
    match before with
    | Some t0 ->
      (match t0 with
       | Sign s ->
         (||)
           (eqb1 s (String ((Ascii (true, false, false, true, false, true,
             false, false)), EmptyString)))
           (eqb1 s (String ((Ascii (true, false, true, true, true, false,
             true, false)), EmptyString)))
       | Directive _ -> false
       | _ -> true)
    | None -> false
  in
  (||)
    (match t with
     | Sign s ->
       (&&)
         (eqb1 s (String ((Ascii (true, false, true, true, false, true,
           false, false)), EmptyString))) (negb operand1)
     | _ -> false) (negates (Some t) ts')

(** val check_range :
    specification -> types -> string -> certificate list -> bool **)

let check_range g t text cs =
  match with_subscripts g.sizes text with
  | Some n0 ->
    (&&)
      (negb
        ((&&) (existsb (fun one -> Z.eqb (fst (snd one)) Z0) t.kinds)
          (negates None (words text))))
      (refutes_all cs (all_range_goals g t n0))
  | None -> false
