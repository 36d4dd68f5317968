import type { KeyboardEvent, PointerEvent, ReactNode } from 'react'
import classes from './charts.module.css'

interface WalkerProps {
  /** Accessible name of the slider. */
  label: string
  /** X positions of the points in pixels, ascending. */
  xs: readonly number[]
  /** Index of the selected point; null for none. */
  index: number | null
  show(index: number | null): void
  /** Returns the screen reader text of a point. */
  say(index: number): string
  /** Called when the selected point is clicked, or when Enter is pressed on it. */
  pick?: (index: number) => void
  /** Tooltip of the selected point. */
  card: ReactNode
}

/** Number of points that Page Up and Page Down skip. */
const PAGE = 10

/**
 * Overlay of a plot. The pointer selects the nearest point. Arrow keys move between points, which are announced as
 * slider values.
 */
export function PointSlider({ label, xs, index, show, say, pick, card }: WalkerProps) {
  const last = xs.length - 1
  const at = index ?? last
  const onKeyDown = (event: KeyboardEvent) => {
    const to = keyTarget(event.key, at, last)
    if (event.key === 'Enter' && index !== null && pick) pick(index)
    else if (event.key === 'Escape' && index !== null) show(null)
    else if (to === null) return
    // The first key press only selects the current point.
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

/**
 * Left position of the tooltip, which appears next to the point and within the plot. The style sheet sets its width to
 * 208 px.
 */
const cardLeft = (x: number, isLeft: boolean): string =>
  isLeft ? `${Math.max(0, x - AWAY_PX - CARD_PX)}px` : `max(0px, min(${x + AWAY_PX}px, 100% - ${CARD_PX}px))`

/** Returns the index of the point that a key moves to; null for other keys. */
function keyTarget(key: string, at: number, last: number): number | null {
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

/** Returns the index of the point nearest to `x`. */
function nearest(xs: readonly number[], x: number): number {
  let found = 0
  for (const [index, place] of xs.entries()) {
    if (Math.abs(place - x) < Math.abs((xs[found] ?? 0) - x)) found = index
  }
  return found
}
