import { Anchor, Switch } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Alert } from '#client/types.gen'
import { useHasRole } from '../../api/whoami.ts'
import { joinIsolated } from '../../bidi-isolation.ts'
import { Data, Dot } from '../../components/data-text.tsx'
import { ManagedMark } from '../../components/managed-by.tsx'
import { Num } from '../../components/numbers.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import type { Column } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { domainsOf } from './editor/draft.ts'
import { toggleAlert } from './queries.ts'

interface Known {
  /** Domain names by id. */
  domains: ReadonlyMap<string, string>
  openIssues: Readonly<Record<string, number>>
}

/** The columns of the list. */
export function columnsWith({ domains, openIssues }: Known): Column<Alert>[] {
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
      width: '120px',
      isUnderMain: true,
      cell: ({ severity = 'low' }) => <SeverityMark severity={severity} />,
    },
    { id: 'told', head: t.notifies, width: '160px', hideBelow: 1200, cell: (alert) => <Channels alert={alert} /> },
    {
      id: 'issues',
      head: t.openIssues,
      width: '110px',
      isFigure: true,
      hideBelow: 768,
      cell: ({ id }) =>
        openIssues[id] ? (
          <Anchor component={Link} to="/issues" search={{ alertId: [id] } as never} fz="sm">
            <Num value={openIssues[id]} />
          </Anchor>
        ) : (
          <Num value={0} />
        ),
    },
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
