import { Anchor, NativeSelect, NumberInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Signal } from '#client/types.gen'
import { SENSITIVITY } from '../../../contract/limits.ts'
import { SIGNAL_MODES } from '../../../contract/statuses.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Sparkline } from '../../charts/sparkline.tsx'
import { Data, Dot } from '../../components/data-text.tsx'
import { formatNumber } from '../../components/format.ts'
import { Num } from '../../components/numbers.tsx'
import { type StatusIcon, StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import type { Column } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import classes from './columns.module.css'
import { changeSignal } from './queries.ts'

/** The mark of each state. */
const STATE_MARKS: Record<Signal['state'], StatusIcon> = {
  silent: 'failed',
  low: 'failed',
  high: 'failed',
  learning: 'learning',
  normal: 'resolved',
  off: 'muted',
}

/** The columns of the list. */
export function useColumns(): Column<Signal>[] {
  const may = useHasRole('member')
  return useMemo(() => {
    const t = messages.signals
    return [
      {
        id: 'state',
        head: t.status,
        help: 'state',
        sort: 'state',
        isHighestFirst: true,
        width: '128px',
        isUnderMain: true,
        cell: (signal) => <State signal={signal} />,
      },
      { id: 'signal', head: t.signal, sort: 'vendor', isMain: true, cell: (signal) => <Name signal={signal} /> },
      {
        id: 'week',
        head: t.lastWeek,
        width: '140px',
        hideBelow: 1200,
        cell: ({ series, vendor, event, state }) =>
          series && <Sparkline points={series} label={t.spark(vendor, event, t.states[state])} />,
      },
      {
        id: 'now',
        head: t.now,
        sort: 'observed',
        width: '90px',
        isFigure: true,
        isUnderMain: true,
        cell: ({ observed }) => <Num value={observed} />,
      },
      {
        id: 'expected',
        head: t.expected,
        sort: 'expected',
        width: '120px',
        isFigure: true,
        isUnderMain: true,
        cell: ({ low, high, expected }) =>
          low === null || high === null ? (
            <Num value={expected} digits={expected !== null && expected < 10 ? 1 : 0} />
          ) : (
            <Data>{t.range(formatNumber(low, 0), formatNumber(high, 0))}</Data>
          ),
      },
      {
        id: 'sensitivity',
        head: t.sensitivity,
        help: 'sensitivity',
        sort: 'sensitivity',
        width: '120px',
        hideBelow: 1200,
        cell: (signal) => (may ? <SensitivityField signal={signal} /> : <Num value={signal.sensitivity} />),
      },
      {
        id: 'mode',
        head: t.mode,
        help: 'mutedOrOff',
        sort: 'mode',
        width: '100px',
        cell: (signal) => (may ? <Watching signal={signal} /> : t.modes[signal.mode]),
      },
    ]
  }, [may])
}

function State({ signal: { state, learningUntil, silentSince } }: { signal: Signal }) {
  const t = messages.signals
  return (
    <div>
      <StatusMark status={STATE_MARKS[state]} word={t.states[state]} />
      {state === 'learning' && learningUntil !== null && (
        <div className="under">
          {t.until} <TimeAgo at={learningUntil} isQuiet />
        </div>
      )}
      {state === 'silent' && silentSince !== null && (
        <div className="under">
          {t.since} <TimeAgo at={silentSince} isQuiet />
        </div>
      )}
    </div>
  )
}

function Name({ signal: { vendor, event, domain, explainedBy, issueId } }: { signal: Signal }) {
  const name = (
    <Data className={classes.name}>
      {vendor} {event}
    </Data>
  )
  return (
    <div>
      {issueId === null ? (
        <strong>{name}</strong>
      ) : (
        <Anchor component={Link} to={`/issues/${issueId}`} fw={600}>
          {name}
        </Anchor>
      )}
      <div className="under">
        {explainedBy && (
          <>
            <Anchor component={Link} to={`/issues/${explainedBy.issueId}`} fz="xs" title={explainedBy.title}>
              {messages.signals.partOfIssue}
            </Anchor>
            <Dot />
          </>
        )}
        <Data>{domain}</Data>
      </div>
    </div>
  )
}

/** The mode. Includes the sensitivity on screens that have no column for it. */
const Watching = ({ signal }: { signal: Signal }) => (
  <>
    <ModeField signal={signal} />
    <div className={classes.withMode}>
      <div className="under">{messages.signals.sensitivity}</div>
      <SensitivityField signal={signal} />
    </div>
  </>
)

function SensitivityField({ signal }: { signal: Signal }) {
  const { vendor, event, sensitivity } = signal
  return (
    <NumberInput
      key={sensitivity}
      size="xs"
      w="100%"
      maw={90}
      aria-label={messages.signals.sensitivityOf(vendor, event)}
      defaultValue={sensitivity}
      min={SENSITIVITY.min}
      max={SENSITIVITY.max}
      step={0.5}
      clampBehavior="blur"
      onBlur={({ currentTarget }) => {
        const chosen = Number(currentTarget.value)
        if (chosen !== sensitivity) void changeSignal(signal, { sensitivity: chosen })
      }}
    />
  )
}

function ModeField({ signal }: { signal: Signal }) {
  const { vendor, event, mode } = signal
  return (
    <NativeSelect
      size="xs"
      aria-label={messages.signals.modeOf(vendor, event)}
      value={mode}
      onChange={({ currentTarget }) => void changeSignal(signal, { mode: currentTarget.value as Signal['mode'] })}
      data={SIGNAL_MODES.map((value) => ({ value, label: messages.signals.modes[value] }))}
    />
  )
}
