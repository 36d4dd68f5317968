import { Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Run } from '#client/types.gen'
import { formatDuration, formatMoment } from '../../components/format.ts'
import { StatusMark } from '../../components/status-mark.tsx'
import { useTimeZone } from '../../components/use-time-zone.ts'
import { messages } from '../../messages.ts'
import classes from './run-history.module.css'
import { RUN_MARKS } from './status-marks.ts'

/** The most recent runs as a strip of marks, oldest first, and the trend of their durations. */
export function RunHistory({ runs }: { runs: readonly Run[] }) {
  const zone = useTimeZone()
  const t = messages.tests
  const ordered = runs.toReversed()
  return (
    <section>
      <Title order={2} mb="xs">
        {t.history.title}
      </Title>
      <Text c="dimmed" fz="sm" mb="sm">
        {t.history.newest(runs.length)}
      </Text>
      <ol className={classes.strip} aria-label={t.history.title}>
        {ordered.map(({ id, status, createdAt, durationMs }) => (
          <li key={id}>
            <Link to="/tests/runs/$id" params={{ id }} className={classes.run} data-status={status}>
              <StatusMark
                status={RUN_MARKS[status]}
                isWordShown={false}
                word={[
                  t.runStatuses[status],
                  formatMoment(createdAt, zone),
                  durationMs === null ? null : formatDuration(durationMs),
                ]
                  .filter(Boolean)
                  .join(', ')}
              />
            </Link>
          </li>
        ))}
      </ol>
      <DurationTrend runs={ordered} />
    </section>
  )
}

const WIDTH = 600
const HEIGHT = 80
/** Space around the points. */
const MARGIN = 6

/** The durations of finished runs as a line, one point per run; renders nothing without a finished run. */
function DurationTrend({ runs }: { runs: readonly Run[] }) {
  const t = messages.tests.history
  const finished = runs.flatMap(({ id, status, durationMs }) =>
    durationMs === null ? [] : [{ id, status, durationMs }],
  )
  const durations = finished.map(({ durationMs }) => durationMs)
  const latest = durations.at(-1)
  if (latest === undefined) return null
  const longest = Math.max(...durations)
  const median = durations.toSorted((a, b) => a - b)[Math.floor((durations.length - 1) / 2)] ?? latest
  const step = (WIDTH - 2 * MARGIN) / Math.max(1, finished.length - 1)
  const points = finished.map(({ id, status, durationMs }, index) => ({
    id,
    status,
    // A single point is in the middle.
    x: finished.length === 1 ? WIDTH / 2 : MARGIN + index * step,
    y: HEIGHT - MARGIN - (longest === 0 ? 0 : durationMs / longest) * (HEIGHT - 2 * MARGIN),
  }))
  return (
    <figure className={classes.trend}>
      <figcaption>
        <Text fz="sm" fw={600} component="span">
          {t.trend}
        </Text>{' '}
        <Text fz="sm" c="dimmed" component="span">
          {t.trendSummary(formatDuration(latest), formatDuration(median), formatDuration(longest))}
        </Text>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden>
        <line x1={0} x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} className={classes.axis} />
        <polyline points={points.map(({ x, y }) => `${x},${y}`).join(' ')} className={classes.line} />
        {points.map(({ id, status, x, y }) =>
          status === 'failed' ? (
            <rect key={id} x={x - 4} y={y - 4} width={8} height={8} className={classes.failed} />
          ) : (
            <circle key={id} cx={x} cy={y} r={3} className={classes.point} />
          ),
        )}
      </svg>
    </figure>
  )
}
