import { Pct } from '../../components/numbers.tsx'
import classes from './explore.module.css'

/** A share from 0 to 1 as a bar and a percentage. `isBad`: a high share is bad. */
export function Meter({ share, isBad = false }: { share: number; isBad?: boolean }) {
  return (
    <span className={classes.meter}>
      <span className={classes.track} aria-hidden>
        <span
          className={classes.fill}
          data-bad={isBad || undefined}
          style={{ width: `${Math.min(1, share) * 100}%` }}
        />
      </span>
      <Pct value={share} />
    </span>
  )
}
