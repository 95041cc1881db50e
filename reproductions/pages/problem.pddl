; A {world.height}x{world.width} map. Costs are in steps; a step of the world costs {cost:g}.
(define (problem crafting-goal)
  (:domain crafting)
  (:objects
    {cells} - cell{levels}
  )
  (:init
    (= (total-cost) 0)
    {facts}
  )
  (:goal {goal})
  (:metric minimize (total-cost)))
