(* Certificates for goals of the checker: why a list of facts has no integer solution.

   Nothing here has to be right: what is found is checked by `Checker.refutes`, which is verified.
   Equations with a unit coefficient are eliminated, inequalities divided by the common divisor of their
   coefficients and rounded; then a simplex over exact integers finds a sum that is a negative number, or a
   point.  Of the disjunctions that the point does not satisfy, the part that most of them have is decided: it
   holds, or its negation does; where they have none in common, one is split; then a variable that is not an
   integer.
   Integers are machine integers: an overflow ends the search for that goal, it never goes unnoticed. *)

open Checker

exception Overflow
exception Budget

let times a b =
  if a = 0 || b = 0 then 0
  else if abs a < 1 lsl 30 && abs b < 1 lsl 30 then a * b
  else if abs a < 1 lsl 61 / abs b then a * b
  else raise Overflow

let plus a b = if abs a < 1 lsl 60 && abs b < 1 lsl 60 then a + b else raise Overflow
let rec gcd a b = if b = 0 then abs a else gcd b (a mod b)
let floor_div a b = if a >= 0 then a / b else - ((b - 1 - a) / b)

(* -- vectors of machine integers, without the cost of polymorphic arrays --------------------------------- *)

let mapped (f : int -> int) (a : int array) : int array =
  let b : int array = Array.make (Array.length a) 0 in
  for k = 0 to Array.length a - 1 do b.(k) <- f a.(k) done;
  b

let negated (a : int array) : int array =
  let b : int array = Array.make (Array.length a) 0 in
  for k = 0 to Array.length a - 1 do b.(k) <- - a.(k) done;
  b

(* The common divisor of g and the entries; looked for no further than to 1. *)
let divisor g (a : int array) =
  let found = ref g and k = ref 0 in
  while !found <> 1 && !k < Array.length a do
    found := gcd !found a.(!k);
    incr k
  done;
  !found

module Rows = Hashtbl.Make (struct
  type t = int array
  let equal (a : t) (b : t) =
    let n = Array.length a in
    let rec same k = k = n || (a.(k) = b.(k) && same (k + 1)) in
    n = Array.length b && same 0
  let hash (a : t) =
    let h = ref 17 in
    for k = 0 to Array.length a - 1 do h := (!h * 31) + a.(k) done;
    !h land max_int
end)

(* -- numbers of Coq -------------------------------------------------------------------------------- *)

let rec of_positive = function
  | XH -> 1
  | XO p -> times 2 (of_positive p)
  | XI p -> plus 1 (times 2 (of_positive p))

let of_z = function Z0 -> 0 | Zpos p -> of_positive p | Zneg p -> - (of_positive p)
let rec to_positive n = if n = 1 then XH else if n land 1 = 0 then XO (to_positive (n / 2)) else XI (to_positive (n / 2))
let to_z n = if n = 0 then Z0 else if n > 0 then Zpos (to_positive n) else Zneg (to_positive (- n))
let rec to_nat n = if n = 0 then O else S (to_nat (n - 1))

(* -- sums of facts --------------------------------------------------------------------------------- *)

(* Facts are numbered from the oldest, so that a number stays the same when new ones come in front. *)
type sum = (int * int) list (* number of a fact, factor; by falling numbers *)

let rec add_sums (a : sum) (b : sum) : sum =
  match a, b with
  | [], l | l, [] -> l
  | (i, x) :: a', (j, y) :: b' ->
    if i > j then (i, x) :: add_sums a' b
    else if j > i then (j, y) :: add_sums a b'
    else let z = plus x y in if z = 0 then add_sums a' b' else (i, z) :: add_sums a' b'

let scale_sum f (a : sum) : sum = if f = 0 then [] else List.map (fun (i, x) -> (i, times f x)) a

(* The sum of facts `from`, divided by `divisor`: exactly, or `rounded` down. *)
type atom = {
  coefficients : int array;
  constant : int;
  from : sum;
  divisor : int;
  rounded : bool;
}

let lcm a b = times a (b / gcd a b)

(* a + f b, where neither was rounded *)
let add_atom f a b =
  let n = Array.length a.coefficients in
  let d = lcm a.divisor b.divisor in
  let coefficients : int array = Array.make n 0 in
  for k = 0 to n - 1 do coefficients.(k) <- plus a.coefficients.(k) (times f b.coefficients.(k)) done;
  { coefficients;
    constant = plus a.constant (times f b.constant);
    from = add_sums (scale_sum (d / a.divisor) a.from) (scale_sum (times f (d / b.divisor)) b.from);
    divisor = d;
    rounded = false }

let opposite a =
  { a with coefficients = negated a.coefficients; constant = - a.constant;
    from = scale_sum (-1) a.from }

let divisor_of a = divisor 0 a.coefficients

(* Divided by the common divisor g of its coefficients; the constant is rounded. *)
let divided a g =
  if g = 1 then a
  else
    { coefficients = mapped (fun x -> x / g) a.coefficients;
      constant = floor_div a.constant g;
      from = a.from;
      divisor = times a.divisor g;
      rounded = a.constant mod g <> 0 }

(* -- the certificate at the end of a search --------------------------------------------------------- *)

let combination size (a : sum) : combination =
  let rec go last = function
    | [] -> []
    | (number, factor) :: rest ->
      let index = size - 1 - number in
      (to_nat (index - last - 1), to_z factor) :: go index rest
  in
  go (-1) a

(* Rounded atoms among the parts become facts of their own: how many facts there are then, the sum of
   the parts, and what goes around the rest of the certificate. *)
let summed size (parts : (int * atom) list) : int * sum * (certificate -> certificate) =
  let parts = List.filter (fun (f, _) -> f <> 0) parts in
  let scale = List.fold_left (fun m (_, a) -> if a.rounded then m else lcm m a.divisor) 1 parts in
  let add (size, total, around) (f, a) =
    let f = times f scale in
    if a.rounded then
      let cut rest = Cut (combination size a.from, to_positive a.divisor, rest) in
      (size + 1, add_sums [ (size, f) ] total, fun rest -> around (cut rest))
    else (size, add_sums (scale_sum (f / a.divisor) a.from) total, around)
  in
  let size, total, around = List.fold_left add (size, [], fun rest -> rest) parts in
  (size, total, around)

(* A negative number as the sum of these multiples of atoms. *)
let conclude size (parts : (int * atom) list) : certificate =
  let size, total, around = summed size parts in
  let common = max 1 (List.fold_left (fun g (_, f) -> gcd g f) 0 total) in
  around (Farkas (combination size (List.map (fun (i, f) -> (i, f / common)) total)))

(* -- the simplex ------------------------------------------------------------------------------------ *)

type outcome =
  | Contradiction of (int * atom) list
  | Point of (int * int) array * ((int * atom) list * int) option
      (* numerators and denominators; and, where one is not an integer, a sum of atoms whose coefficients
         have a common divisor: divided and rounded, it excludes the point (Gomory) *)

(* Row r says: scale.(r) * (what is basic there) = sum of table.(r).(j) * (what is not, in column j).
   What is not basic has its value: 0 for a variable, the lower bound for a slack. *)
let simplex width (atoms : atom array) : outcome =
  let rows = Array.length atoms in
  let table = Array.map (fun a -> Array.copy a.coefficients) atoms in
  let scale = Array.make rows 1 in
  let basic = Array.init rows (fun r -> width + r) in
  let outside = Array.init width (fun j -> j) in
  let low v = if v < width then 0 else - atoms.(v - width).constant in
  let numerator r =
    let total = ref 0 in
    Array.iteri (fun j t -> if t <> 0 then total := plus !total (times t (low outside.(j)))) table.(r);
    !total
  in
  let reduce r =
    let g = divisor scale.(r) table.(r) in
    if g > 1 then begin
      scale.(r) <- scale.(r) / g;
      table.(r) <- mapped (fun t -> t / g) table.(r)
    end
  in
  let pivot r j =
    let old = table.(r) in
    let p = old.(j) in
    let sign = if p > 0 then 1 else -1 in
    let d = abs p in
    let row = Array.mapi (fun k t -> if k = j then sign * scale.(r) else - sign * t) old in
    table.(r) <- row;
    scale.(r) <- d;
    reduce r;
    let row = table.(r) and d = scale.(r) in
    Array.iteri
      (fun q line ->
        let f = line.(j) in
        if q <> r && f <> 0 then begin
          let sum : int array = Array.make width 0 in
          for k = 0 to width - 1 do
            sum.(k) <- (if k = j then times f row.(k) else plus (times d line.(k)) (times f row.(k)))
          done;
          table.(q) <- sum;
          scale.(q) <- times scale.(q) d;
          reduce q
        end)
      table;
    let leaving = basic.(r) in
    basic.(r) <- outside.(j);
    outside.(j) <- leaving
  in
  let violated () =
    let best = ref (-1) in
    for r = 0 to rows - 1 do
      let v = basic.(r) in
      if v >= width && (!best < 0 || v < basic.(!best)) && numerator r < times scale.(r) (low v) then best := r
    done;
    !best
  in
  let entering r =
    let best = ref (-1) in
    Array.iteri
      (fun j t ->
        let v = outside.(j) in
        if (v < width && t <> 0) || (v >= width && t > 0) then
          if !best < 0 || v < outside.(!best) then best := j)
      table.(r);
    !best
  in
  let rec go count =
    if count > 2000 then raise Budget;
    match violated () with
    | -1 ->
      let point = Array.make width (0, 1) in
      Array.iteri (fun r v -> if v < width then point.(v) <- (numerator r, scale.(r))) basic;
      let cut = ref None in
      Array.iteri
        (fun r v ->
          let d = scale.(r) in
          if v < width && d > 1 && numerator r mod d <> 0 then begin
            let parts = List.init width (fun j -> (((table.(r).(j) mod d) + d) mod d, outside.(j))) in
            let parts = List.filter (fun (f, _) -> f <> 0) parts in
            if List.for_all (fun (_, v) -> v >= width) parts then
              match !cut with
              | Some (others, _) when List.length others <= List.length parts -> ()
              | _ -> cut := Some (List.map (fun (f, v) -> (f, atoms.(v - width))) parts, d)
          end)
        basic;
      Point (point, !cut)
    | r -> (
      match entering r with
      | -1 ->
        let others =
          List.filter_map
            (fun j -> if table.(r).(j) = 0 then None else Some (- table.(r).(j), atoms.(outside.(j) - width)))
            (List.init width (fun j -> j))
        in
        Contradiction ((scale.(r), atoms.(basic.(r) - width)) :: others)
      | j -> pivot r j; go (count + 1))
  in
  go 0

(* -- conjunctions ----------------------------------------------------------------------------------- *)

exception Contradictory of certificate

(* Equations with a unit coefficient, and which variable each gives. *)
let eliminate size equations =
  let substituted a solved =
    List.fold_left
      (fun a (k, e) ->
        let f = a.coefficients.(k) in
        if f = 0 then a else add_atom (- f * e.coefficients.(k)) a e)
      a solved
  in
  let rec go solved left = function
    | [] -> (List.rev solved, left)
    | e :: rest ->
      let e = substituted e (List.rev solved) in
      let g = divisor_of e in
      if g = 0 then begin
        if e.constant <> 0 then
          raise (Contradictory (conclude size [ ((if e.constant > 0 then -1 else 1), e) ]));
        go solved left rest
      end
      else if e.constant mod g <> 0 then
        raise (Contradictory (conclude size [ (1, divided e g); (1, divided (opposite e) g) ]))
      else begin
        let e = divided e g in
        let unit = ref (-1) in
        Array.iteri (fun k x -> if abs x = 1 then unit := k) e.coefficients;
        if !unit >= 0 then go ((!unit, e) :: solved) left rest else go solved (e :: left) rest
      end
  in
  let solved, left = go [] [] equations in
  (solved, left, fun a -> substituted a solved)

let tightened size a =
  let g = divisor_of a in
  if g > 0 then Some (divided a g)
  else if a.constant < 0 then raise (Contradictory (conclude size [ (1, a) ]))
  else None

(* Of atoms with the same coefficients the strongest; two with opposite ones may contradict each other. *)
let strongest size atoms =
  let seen : atom Rows.t = Rows.create 32 in
  let order = ref [] in
  List.iter
    (fun a ->
      match Rows.find_opt seen a.coefficients with
      | Some b when b.constant <= a.constant -> ()
      | earlier -> (
        if earlier = None then order := a.coefficients :: !order;
        Rows.replace seen a.coefficients a;
        match Rows.find_opt seen (negated a.coefficients) with
        | Some b when plus a.constant b.constant < 0 ->
          raise (Contradictory (conclude size [ (1, a); (1, b) ]))
        | _ -> ()))
    atoms;
  (seen, List.rev_map (Rows.find seen) !order)

let value point a =
  (* numerator and denominator of the atom's value at the point *)
  let num = ref a.constant and den = ref 1 in
  Array.iteri
    (fun k x ->
      if x <> 0 then begin
        let p, q = point.(k) in
        let n = plus (times !num q) (times (times x p) !den) and d = times !den q in
        let g = max 1 (gcd n d) in
        num := n / g;
        den := d / g
      end)
    a.coefficients;
  (!num, !den)

(* -- facts with machine integers ---------------------------------------------------------------------- *)

type formula = Positive of atom (* 0 <= a *) | Null of atom (* 0 = a *) | All of formula list | One of formula list

let atom_of width (constant, coefficients) =
  let row = Array.make width 0 in
  List.iteri (fun k x -> row.(k) <- of_z x) coefficients;
  { coefficients = row; constant = of_z constant; from = []; divisor = 1; rounded = false }

let rec width_of = function
  | Above (_, k) | Zero (_, k) -> List.length k
  | Both fs | Either fs -> List.fold_left (fun n f -> max n (width_of f)) 0 fs

let rec formula_of width = function
  | Above l -> Positive (atom_of width l)
  | Zero l -> Null (atom_of width l)
  | Both fs -> All (List.map (formula_of width) fs)
  | Either fs -> One (List.map (formula_of width) fs)

let rec largest = function
  | Positive a | Null a -> Array.fold_left (fun n x -> max n (abs x)) (abs a.constant) a.coefficients
  | All fs | One fs -> List.fold_left (fun n f -> max n (largest f)) 0 fs

(* A fact with numbers that are too large is left out: nothing is known then of a point. *)
let formulas_of limit width goal =
  let skipped = ref false in
  let one f =
    match formula_of width f with
    | found when largest found <= limit -> found
    | _ | (exception Overflow) -> skipped := true; All []
  in
  let found = List.map one goal in
  (found, !skipped)

let rec true_at point = function
  | Positive a -> fst (value point a) >= 0
  | Null a -> fst (value point a) = 0
  | All fs -> List.for_all (true_at point) fs
  | One fs -> List.exists (true_at point) fs

(* -- what is known of a conjunction ------------------------------------------------------------------- *)

type knowledge = {
  solved : (int * atom) list;
  substituted : atom -> atom;
  table : atom Rows.t;  (* the strongest inequality for each vector of coefficients *)
  atoms : atom list;
}

let knowledge size equations inequalities =
  let solved, left, substituted = eliminate size equations in
  let all = List.map substituted inequalities @ left @ List.map opposite left in
  let table, atoms = strongest size (List.filter_map (tightened size) all) in
  { solved; substituted; table; atoms }

type status = Yes | No | Maybe

(* Whether a formula holds, or cannot, by what one known inequality says. *)
let rec status known = function
  | Positive a -> (
    let a = known.substituted a in
    let g = divisor_of a in
    if g = 0 then if a.constant >= 0 then Yes else No
    else
      let a = divided a g in
      match Rows.find_opt known.table a.coefficients with
      | Some b when b.constant <= a.constant -> Yes
      | _ -> (
        match Rows.find_opt known.table (negated a.coefficients) with
        | Some b when plus a.constant b.constant < 0 -> No
        | _ -> Maybe))
  | Null a -> (
    let a = known.substituted a in
    let g = divisor_of a in
    if g = 0 then if a.constant = 0 then Yes else No
    else if a.constant mod g <> 0 then No
    else
      match status known (Positive a), status known (Positive (opposite a)) with
      | No, _ | _, No -> No
      | Yes, Yes -> Yes
      | _ -> Maybe)
  | All fs ->
    let found = List.map (status known) fs in
    if List.mem No found then No else if List.for_all (fun s -> s = Yes) found then Yes else Maybe
  | One fs ->
    let found = List.map (status known) fs in
    if List.mem Yes found then Yes else if List.for_all (fun s -> s = No) found then No else Maybe

(* Why a further fact cannot hold, where one known inequality says so. *)
let contradiction known size f =
  let against a =
    let a = known.substituted { a with from = [ (size, 1) ] } in
    let g = divisor_of a in
    if g = 0 then if a.constant < 0 then Some (conclude (size + 1) [ (1, a) ]) else None
    else
      let a = divided a g in
      match Rows.find_opt known.table (negated a.coefficients) with
      | Some b when plus a.constant b.constant < 0 -> Some (conclude (size + 1) [ (1, a); (1, b) ])
      | _ -> None
  in
  match f with Positive a -> against a | Null _ | All _ | One _ -> None

let point_of width known =
  match simplex width (Array.of_list known.atoms) with
  | Contradiction _ as found -> found
  | Point (point, cut) ->
    (* a variable that was eliminated: e = 0 with coefficient 1 or -1; the last one first *)
    List.iter
      (fun (k, e) ->
        point.(k) <- (0, 1);
        let num, den = value point e in
        point.(k) <- (- num * e.coefficients.(k), den))
      (List.rev known.solved);
    Point (point, cut)

(* -- the search --------------------------------------------------------------------------------------- *)

type answer = Certificate of certificate | Solution of int array | Unknown

let push f facts = match f with All gs -> gs @ facts | f -> f :: facts

(* The fact that a sum becomes when it is divided and rounded. *)
let fact_of width facts (total : sum) d =
  let table = Array.of_list (List.rev facts) in
  let add so_far (number, f) =
    match table.(number) with
    | Positive a | Null a -> add_atom f so_far { a with from = [] }
    | All _ | One _ -> assert false
  in
  let sum = List.fold_left add (atom_of width (Z0, [])) total in
  Positive
    { sum with coefficients = Array.map (fun x -> x / d) sum.coefficients; constant = floor_div sum.constant d }

let max_depth = 400

(* Processor time at which the search ends. *)
let deadline = ref infinity

let term a = (to_z a.constant, List.map to_z (Array.to_list a.coefficients))

(* Of the parts of disjunctions that are open at a point, the one that most disjunctions have. *)
let commonest known choices open_ =
  let seen : (int array * int, int) Hashtbl.t = Hashtbl.create 64 in
  let key a = (a.coefficients, a.constant) in
  let times a = try Hashtbl.find seen (key a) with Not_found -> 0 in
  let count f = match f with Positive a -> Hashtbl.replace seen (key a) (times a + 1) | Null _ | All _ | One _ -> () in
  List.iter (fun (_, _, fs) -> List.iter count fs) choices;
  let better best f =
    match f with
    | Positive a when times a > (match best with None -> 1 | Some b -> times b) && status known f = Maybe -> Some a
    | _ -> best
  in
  List.fold_left (fun best (_, _, fs) -> List.fold_left better best fs) None open_

let search limit max_cuts budget (goal : fact list) : answer =
  let width = List.fold_left (fun n f -> max n (width_of f)) 0 goal in
  let left = ref budget in
  let exception Stop of answer in
  (* `used`: the numbers of disjunctions one of whose parts is among the facts *)
  let rec solve depth cuts used facts size : certificate =
    if depth > max_depth || Sys.time () > !deadline then raise (Stop Unknown);
    let equations = ref [] and inequalities = ref [] and choices = ref [] in
    List.iteri
      (fun index f ->
        let from = [ (size - 1 - index, 1) ] in
        match f with
        | Positive a -> inequalities := { a with from } :: !inequalities
        | Null a -> equations := { a with from } :: !equations
        | One fs -> if not (List.mem (size - 1 - index) used) then choices := (index, fs) :: !choices
        | All _ -> ())
      facts;
    match knowledge size (List.rev !equations) (List.rev !inequalities) with
    | exception Contradictory certificate -> certificate
    | known -> (
      let live (index, fs) =
        let found = List.map (status known) fs in
        if List.mem Yes found then None
        else Some (List.length (List.filter (fun s -> s = Maybe) found), index, fs)
      in
      let choices = List.filter_map live (List.rev !choices) in
      match List.find_opt (fun (count, _, _) -> count <= 1) choices with
      | Some (_, index, fs) -> branch known depth cuts used facts size index fs
      | None -> (
        decr left;
        if !left < 0 then raise (Stop Unknown);
        match point_of width known with
        | Contradiction parts -> conclude size parts
        | Point (point, cut) -> (
          let open_ = List.filter (fun (_, _, fs) -> not (List.exists (true_at point) fs)) choices in
          let smaller a b = match a with Some (n, _, _) -> (let m, _, _ = b in if m < n then Some b else a) | None -> Some b in
          match commonest known choices open_, List.fold_left smaller None open_ with
          | Some a, _ -> decide a depth cuts used facts size
          | None, Some (_, index, fs) -> branch known depth cuts used facts size index fs
          | None, None -> (
            match cut with
            | Some (parts, d) when cuts < max_cuts -> cut_off depth cuts used facts size parts d
            | _ -> split depth cuts used facts size point))))
  (* Either it holds, or its negation is a fact from then on. *)
  and decide a depth cuts used facts size =
    let negation = { (opposite a) with constant = - a.constant - 1 } in
    let holds = solve (depth + 1) cuts used (Positive a :: facts) (size + 1) in
    Split (term a, holds, solve (depth + 1) cuts used (Positive negation :: facts) (size + 1))
  and branch known depth cuts used facts size index fs =
    let one f =
      match contradiction known size f with
      | Some certificate -> certificate
      | None ->
        let facts = push f facts in
        solve (depth + 1) cuts ((size - 1 - index) :: used) facts (List.length facts)
    in
    Cases (to_nat index, List.map one fs)
  (* rounded parts become facts, then their sum is divided and rounded *)
  and cut_off depth cuts used facts size parts d =
    let scale = List.fold_left (fun m (_, a) -> if a.rounded then m else lcm m a.divisor) 1 parts in
    let add (facts, size, total, around) (f, a) =
      let f = times f scale in
      if a.rounded then
        let cut rest = Cut (combination size a.from, to_positive a.divisor, rest) in
        (fact_of width facts a.from a.divisor :: facts, size + 1, add_sums [ (size, f) ] total, fun rest -> around (cut rest))
      else (facts, size, add_sums (scale_sum (f / a.divisor) a.from) total, around)
    in
    let d = times d scale in
    let facts, size, total, around = List.fold_left add (facts, size, [], fun rest -> rest) parts in
    let fact = fact_of width facts total d in
    around (Cut (combination size total, to_positive d, solve (depth + 1) (cuts + 1) used (fact :: facts) (size + 1)))
  and split depth cuts used facts size point =
    let fractional = ref (-1) in
    Array.iteri (fun k (p, q) -> if !fractional < 0 && p mod q <> 0 then fractional := k) point;
    if !fractional < 0 then raise (Stop (Solution (Array.map (fun (p, q) -> p / q) point)));
    let k = !fractional in
    let p, q = point.(k) in
    let next = floor_div p q + 1 in
    let unit = List.init (k + 1) (fun j -> if j = k then 1 else 0) in
    let up = (to_z (- next), List.map to_z unit) in
    let down = (to_z (next - 1), List.map (fun x -> to_z (- x)) unit) in
    let go l = solve (depth + 1) cuts used (Positive (atom_of width l) :: facts) (size + 1) in
    Split (up, go up, go down)
  in
  let formulas, skipped = formulas_of limit width goal in
  try Certificate (solve 0 0 [] formulas (List.length goal)) with
  | Stop (Solution _) when skipped -> Unknown
  | Stop answer -> answer
  | Overflow | Budget -> Unknown

(* Cuts make numbers grow: where they overflow, variables that are not integers are split instead; then
   facts with large numbers, such as the range of a type, are left out. *)
let find budget goal =
  let tries = [ (max_int, 30); (max_int, 0); (1 lsl 31, 30) ] in
  let next answer (limit, cuts) =
    match answer with
    | Unknown when Sys.time () < !deadline -> search limit cuts budget goal
    | _ -> answer
  in
  List.fold_left next Unknown tries
