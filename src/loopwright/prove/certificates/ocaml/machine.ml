(* The numbers of the finder: machine integers.  What does not fit raises Overflow, and never goes unnoticed;
   the search is then repeated with the numbers of `large.ml`, which has the same functions. *)

open Checker

exception Overflow

type number = int

let number (n : int) : number = n
let sign (a : number) = compare a 0
let equal (a : number) (b : number) = a = b
let less (a : number) (b : number) = a < b
let hash (a : number) : int = a
let negative (a : number) : number = - a

let times (a : number) (b : number) : number =
  if a = 0 || b = 0 then 0
  else if abs a < 1 lsl 30 && abs b < 1 lsl 30 then a * b
  else if abs a < 1 lsl 61 / abs b then a * b
  else raise Overflow

let plus (a : number) (b : number) : number = if abs a < 1 lsl 60 && abs b < 1 lsl 60 then a + b else raise Overflow

(* Rounded to zero, as in C. *)
let quotient (a : number) (b : number) : number = a / b
let remainder (a : number) (b : number) : number = a mod b
let rec gcd (a : number) (b : number) : number = if b = 0 then abs a else gcd b (a mod b)

let rec of_positive = function
  | XH -> 1
  | XO p -> times 2 (of_positive p)
  | XI p -> plus 1 (times 2 (of_positive p))

let of_z = function Z0 -> 0 | Zpos p -> of_positive p | Zneg p -> - (of_positive p)
let rec to_positive n = if n = 1 then XH else if n land 1 = 0 then XO (to_positive (n / 2)) else XI (to_positive (n / 2))
let to_z n = if n = 0 then Z0 else if n > 0 then Zpos (to_positive n) else Zneg (to_positive (- n))
