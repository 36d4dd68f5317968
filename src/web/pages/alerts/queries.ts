import { listAlertsInfiniteOptions, listSuggestionsOptions } from '#client/@tanstack/react-query.gen'
import { listAlerts, setAlertEnabled } from '#client/sdk.gen'
import type { Alert, AlertList, ListAlertsData } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { mutate } from '../../api/mutate.ts'
import { PAGE_SIZE, updatePages } from '../../api/pagination.ts'
import { STALE_MS } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { nameList, optional, sortParam, text } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'
import { draftOf } from './editor/convert-alert-draft.ts'

/** Search parameters of the alert list. Types come from the server, so any string is accepted. */
export const ALERTS = {
  q: text,
  enabled: optional(['true', 'false']),
  alertType: nameList,
  domainId: nameList,
  sort: sortParam(['name', 'alertType', 'severity', 'enabled', 'createdAt'], 'createdAt'),
}

/**
 * Search parameters for a new alert: the current domain and event, the parameter that must not be blank, and the
 * template.
 */
export const NEW_ALERT = { domainId: text, vendor: text, event: text, parameter: text, template: text }

type AlertKinds = NonNullable<ListAlertsData['query']>['alertType']

/** The query of the alert list. */
export function alertsQuery({
  q,
  enabled,
  alertType,
  domainId,
  sort,
  project,
}: ValuesOf<typeof ALERTS & SharedParams>) {
  const query = {
    limit: PAGE_SIZE,
    ...(q && { q }),
    ...(enabled && { enabled: enabled === 'true' }),
    ...(alertType.length > 0 && { alertType: [...alertType] as AlertKinds }),
    ...(domainId.length > 0 && { domainId: [...domainId] }),
    ...(project && { projectId: project }),
    ...(sort !== ALERTS.sort.fallback && { sort }),
  }
  return listAlertsInfiniteOptions({ query })
}

/** Suggested rules of a project; empty: all projects. */
export const suggestionsQuery = (project: string) => ({
  ...listSuggestionsOptions({ query: { ...(project && { projectId: project }) } }),
  staleTime: STALE_MS.insight,
})

/** Enables or disables an alert optimistically, with undo. */
export async function toggleAlert(alert: Pick<Alert, 'id' | 'name'>, enabled: boolean): Promise<void> {
  const { id, name } = alert
  const change = (one: Alert) => (one.id === id ? { ...one, enabled } : one)
  await mutate({
    send: () => setAlertEnabled({ path: { id }, body: { enabled } }),
    optimistic: [
      {
        queryKey: [{ _id: 'listAlerts' }],
        update: updatePages<AlertList>((page) => ({ ...page, alerts: page.alerts.map(change) })),
      },
      { queryKey: [{ _id: 'getAlert' }], update: change },
    ],
    message: enabled ? messages.alerts.wasEnabled(name) : messages.alerts.wasDisabled(name),
    undo: () => void toggleAlert(alert, !enabled),
  })
}

/** All alerts of the organization in the format of `POST /v1/alerts`, without read-only fields. */
export async function loadAlertsForExport(): Promise<object[]> {
  const alerts: Alert[] = []
  let cursor: string | null = null
  do {
    const query: { limit: number; cursor?: string } = { limit: MAX_PAGE_SIZE, ...(cursor && { cursor }) }
    const { data }: { data: AlertList } = await listAlerts({ query })
    alerts.push(...data.alerts)
    cursor = data.nextCursor
  } while (cursor !== null)
  return alerts.map(draftOf)
}

/** The alerts in a file: a list, or an object with `alerts`. Null for anything else. */
export function parseAlertsFile(text: string): object[] | null {
  try {
    const read: unknown = JSON.parse(text)
    const list = Array.isArray(read) ? read : (read as { alerts?: unknown } | null)?.alerts
    return Array.isArray(list) && list.length > 0 ? (list as object[]) : null
  } catch {
    return null
  }
}
