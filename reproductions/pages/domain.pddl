; Crafting World. Each action is one step of the agent.
(define (domain crafting)
  (:requirements :typing{requirements} :action-costs)
  (:types cell item place switch-kind level direction doors)
  (:constants
    {items} - item
    {places} - place
    {switches} - switch-kind
    {levels} - level
    up down left right - direction
    mixed open shut - doors)
  (:predicates
    (at ?c - cell)                           ; where the agent is
    (held ?i - item ?n - level)              ; exactly so many copies are in the inventory
    (room ?n - level)                        ; exactly so many more items fit in
    (lies ?i - item ?c - cell)               ; on the ground
    (off ?c - cell) (on ?c - cell)           ; a switch
    (doors-are ?d - doors)                   ; all open, all shut, or mixed as they were at the start
    (switched ?s - switch-kind)              ; one of the kind has been turned on
    (path ?d - direction ?from ?to - cell)   ; from here on what never changes: a step that anybody may take,
    (barred-path ?d - direction ?from ?to - cell)
    (needs ?c - cell ?i - item)              ; with the item one may enter,
    (lets-pass ?c - cell ?d - doors)         ; or if doors are so
    (stands ?p - place ?c - cell)
    (is ?c - cell ?s - switch-kind)
    (at-least ?n ?k - level)
    (less ?n ?k ?m - level)                  ; n less k is m
{fits})                                      ; together no more than the capacity: always so, but it spares planners
  (:functions (total-cost) - number)

  (:action walk
    :parameters (?d - direction ?from ?to - cell)
    :precondition (and (at ?from) (path ?d ?from ?to))
    :effect (and (not (at ?from)) (at ?to) (increase (total-cost) 1)))
  (:action walk-with
    :parameters (?d - direction ?from ?to - cell ?i - item ?n - level)
    :precondition (and (at ?from) (barred-path ?d ?from ?to) (needs ?to ?i) (held ?i ?n) (at-least ?n n1))
    :effect (and (not (at ?from)) (at ?to) (increase (total-cost) 1)))
  (:action walk-through-door
    :parameters (?d - direction ?from ?to - cell ?how - doors)
    :precondition (and (at ?from) (barred-path ?d ?from ?to) (doors-are ?how) (lets-pass ?to ?how))
    :effect (and (not (at ?from)) (at ?to) (increase (total-cost) 1)))
  (:action pick-up
    :parameters (?c - cell ?i - item ?n ?n-after ?r ?r-after - level)
    :precondition (and (at ?c) (lies ?i ?c) (held ?i ?n) (less ?n-after n1 ?n) (room ?r) (less ?r n1 ?r-after)
      (fit-2 ?n ?r))
    :effect (and (not (lies ?i ?c)) (not (held ?i ?n)) (held ?i ?n-after) (not (room ?r)) (room ?r-after)
      (increase (total-cost) 1)))
  (:action turn-on
    :parameters (?c - cell ?s - switch-kind ?how - doors)
    :precondition (and (at ?c) (is ?c ?s) (off ?c) (doors-are ?how))
    :effect (and (not (off ?c)) (on ?c) (switched ?s) (not (doors-are ?how)) (doors-are open)
      (increase (total-cost) 1)))
  (:action turn-off
    :parameters (?c - cell ?how - doors)
    :precondition (and (at ?c) (on ?c) (doors-are ?how))
    :effect (and (not (on ?c)) (off ?c) (not (doors-are ?how)) (doors-are shut) (increase (total-cost) 1)))
{rules})
