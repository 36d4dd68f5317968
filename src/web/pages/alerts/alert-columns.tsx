import { Anchor, Switch } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Alert, AlertState } from '#client/types.gen'
import { useHasRole } from '../../api/whoami.ts'
import { joinIsolated } from '../../bidi-isolation.ts'
import { Data, Dot } from '../../components/data-text.tsx'
import { formatNumber } from '../../components/format.ts'
import { ManagedMark } from '../../components/managed-by.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import { type StatusIcon, StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import type { Column } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { domainsOf } from './editor/draft.ts'
import { toggleAlert } from './queries.ts'

interface Known {
  /** Domain names by id. */
  domains: ReadonlyMap<string, string>
  openIssues: Readonly<Record<string, number>>
  states: Readonly<Record<string, AlertState>>
}

const STATE_ICONS: Record<AlertState['state'], StatusIcon> = {
  ok: 'resolved',
  violated: 'failed',
  muted: 'muted',
  learning: 'learning',
  off: 'off',
}

/** The columns of the list. */
export function columnsWith({ domains, openIssues, states }: Known): Column<Alert>[] {
  const t = messages.alerts
  return [
    { id: 'on', head: t.enabled, sort: 'enabled', width: '64px', cell: (alert) => <EnabledSwitch alert={alert} /> },
    {
      id: 'name',
      head: t.name,
      sort: 'name',
      isLink: true,
      cell: ({ name }) => <Data>{name}</Data>,
      below: (alert) => (
        <div className="under">
          {messages.displayNames.alertTypes[alert.alertType] ?? <Data>{alert.alertType}</Data>}
          {alert.managedBy && <Dot />}
          <ManagedMark managedBy={alert.managedBy} />
        </div>
      ),
    },
    {
      id: 'scope',
      head: t.scope,
      hideBelow: 768,
      cell: (alert) => <Scope alert={alert} domains={domains} />,
    },
    {
      id: 'severity',
      head: t.severity,
      sort: 'severity',
      isHighestFirst: true,
      width: '112px',
      isUnderMain: true,
      cell: ({ severity = 'low' }) => <SeverityMark severity={severity} />,
    },
    {
      id: 'state',
      head: t.state,
      width: '136px',
      isUnderMain: true,
      cell: (alert) => <State alert={alert} state={states[alert.id]} openIssues={openIssues[alert.id] ?? 0} />,
    },
    {
      id: 'evaluated',
      head: t.evaluated,
      width: '120px',
      hideBelow: 1200,
      cell: (alert) => <Evaluated alert={alert} state={states[alert.id]} />,
    },
    { id: 'told', head: t.notifies, width: '130px', hideBelow: 1200, cell: (alert) => <Channels alert={alert} /> },
  ]
}

function EnabledSwitch({ alert }: { alert: Alert }) {
  const may = useHasRole('member')
  return (
    <Switch
      aria-label={alert.name}
      checked={alert.enabled ?? true}
      disabled={!may}
      onClick={(event) => event.stopPropagation()}
      onChange={({ currentTarget }) => void toggleAlert(alert, currentTarget.checked)}
    />
  )
}

/** The state of an alert, with a link to its open issues. Follows the switch before the server has answered. */
function State({ alert, state, openIssues }: { alert: Alert; state: AlertState | undefined; openIssues: number }) {
  const t = messages.alerts
  const isOn = alert.enabled ?? true
  const isKnown = isOn === (state?.state !== 'off')
  const shown = isKnown ? state?.state : isOn ? null : 'off'
  return (
    <>
      {shown && <StatusMark status={STATE_ICONS[shown]} word={t.states[shown]} />}
      {openIssues > 0 && (
        <Anchor component={Link} to="/issues" search={{ alertId: [alert.id] } as never} className="under" fz="xs">
          {t.openIssues(formatNumber(openIssues, 0))}
        </Anchor>
      )}
    </>
  )
}

/** Times of the last and next evaluation. */
function Evaluated({ alert, state }: { alert: Alert; state: AlertState | undefined }) {
  const t = messages.alerts
  const isOn = alert.enabled ?? true
  const { lastEvaluatedAt = null, nextEvaluationAt = null } = state ?? {}
  if (isOn && state && state.state !== 'off' && nextEvaluationAt === null) return t.onArrival
  return (
    <>
      <TimeAgo at={lastEvaluatedAt} isQuiet />
      {isOn && nextEvaluationAt !== null && (
        <div className="under">
          {t.next} <TimeAgo at={nextEvaluationAt} isQuiet />
        </div>
      )}
    </>
  )
}

function Scope({ alert, domains }: { alert: Alert } & Pick<Known, 'domains'>) {
  const t = messages.alerts
  const ids = domainsOf(alert as never)
  const [first = ''] = ids
  const vendors = alert.vendors ?? []
  return (
    <div>
      {ids.length === 0 && t.allDomains}
      {ids.length === 1 && <Data>{domains.get(first) ?? first}</Data>}
      {ids.length > 1 && t.manyDomains(ids.length)}
      <div className="under">
        <Data>{[joinIsolated(vendors, ', '), eventsOf(alert).replace('*', '')].filter(Boolean).join(' ')}</Data>
      </div>
    </div>
  )
}

/** The events selected by the filters or by the type-specific field. */
function eventsOf({ filters = [], volume }: Alert): string {
  const named = filters.filter(({ parameter, op }) => parameter === '$event' && op === 'equals')
  const own = (volume ?? {}) as { vendor?: string; event?: string }
  return joinIsolated([...named.flatMap(({ values = [] }) => values), own.vendor, own.event], ', ')
}

function Channels({ alert: { channels } }: { alert: Alert }) {
  if (channels.length === 0) return messages.alerts.noChannels
  return [...new Set(channels.map(({ type }) => messages.deliveries.channels[type] ?? type))].join(', ')
}
