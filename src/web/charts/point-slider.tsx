import type { KeyboardEvent, PointerEvent, ReactNode } from 'react'
import classes from './charts.module.css'

interface WalkerProps {
  /** Says what is walked. */
  label: string
  /** Where the points are, in pixels from the left of the plot, ascending. */
  xs: readonly number[]
  /** The point that is shown; null for none. */
  index: number | null
  show(index: number | null): void
  /** What is said of a point. */
  say(index: number): string
  /** The point was pressed, or Enter while it is shown. */
  pick?: (index: number) => void
  /** The card beside the point that is shown. */
  card: ReactNode
}

/** How many points a press of Page up or down goes. */
const PAGE = 10

/**
 * Lies over a plot: the pointer shows the nearest point, arrow keys walk from point to point, each spoken as the value of a
 * slider.
 */
export function PointSlider({ label, xs, index, show, say, pick, card }: WalkerProps) {
  const last = xs.length - 1
  const at = index ?? last
  const onKeyDown = (event: KeyboardEvent) => {
    const to = keyTarget(event.key, at, last)
    if (event.key === 'Enter' && index !== null && pick) pick(index)
    else if (event.key === 'Escape' && index !== null) show(null)
    else if (to === null) return
    // The first step to where one is already only shows it.
    else show(index === null && to !== 0 ? last : Math.max(0, Math.min(last, to)))
    event.preventDefault()
  }
  const onPointerMove = ({ clientX, currentTarget }: PointerEvent) =>
    show(nearest(xs, clientX - currentTarget.getBoundingClientRect().left))
  const x = index === null ? null : (xs[index] ?? null)
  return (
    <>
      {x !== null && <div className={classes.rule} style={{ left: x }} />}
      <div
        role="slider"
        tabIndex={0}
        className={classes.walker}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at}
        aria-valuetext={say(at)}
        data-pick={pick ? true : undefined}
        onKeyDown={onKeyDown}
        onPointerMove={onPointerMove}
        onPointerDown={onPointerMove}
        onPointerLeave={() => show(null)}
        onBlur={() => show(null)}
        onClick={pick && index !== null ? () => pick(index) : undefined}
      />
      {x !== null && (
        <div className={classes.card} style={{ left: cardLeft(x, x > (xs[last] ?? 0) / 2) }}>
          {card}
        </div>
      )}
    </>
  )
}

const CARD_PX = 208
const AWAY_PX = 12

/** Beside the point, at its left or its right, within the plot. As in the style sheet, cards are 208 px wide. */
const cardLeft = (x: number, isLeft: boolean): string =>
  isLeft ? `${Math.max(0, x - AWAY_PX - CARD_PX)}px` : `max(0px, min(${x + AWAY_PX}px, 100% - ${CARD_PX}px))`

/** Where a key leads from a point; null for keys that do not walk. */
export function keyTarget(key: string, at: number, last: number): number | null {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return at - 1
    case 'ArrowRight':
    case 'ArrowUp':
      return at + 1
    case 'PageDown':
      return at - PAGE
    case 'PageUp':
      return at + PAGE
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return null
  }
}

/** The index of the place that is nearest to `x`. */
export function nearest(xs: readonly number[], x: number): number {
  let found = 0
  for (const [index, place] of xs.entries()) {
    if (Math.abs(place - x) < Math.abs((xs[found] ?? 0) - x)) found = index
  }
  return found
}
