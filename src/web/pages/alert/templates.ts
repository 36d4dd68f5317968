import type { words } from '../../words.ts'
import { type Draft, EMPTY } from './draft.ts'

type Template = keyof typeof words.alert.templates

/** Rules to begin with, the part that differs from an empty one. */
const TEMPLATES: Readonly<Record<Template, Partial<Draft>>> = {
  stopped: {
    ...{ alertType: 'volume_threshold', severity: 'critical', period: '1d', conditions: undefined },
    volume: { op: 'lte', count: 0, event: 'purchase' },
  },
  blank: {
    severity: 'high',
    conditions: { logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] },
    filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
  },
  personal: {
    severity: 'critical',
    conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] },
  },
  dropped: {
    ...{ alertType: 'tag_volume_change', severity: 'high', period: '1d', conditions: undefined },
    volume: { direction: 'decrease', percent: 50, event: 'purchase' },
  },
  unusual: {
    ...{ alertType: 'volume_anomaly', severity: 'high', conditions: undefined },
    volume: { vendor: '*', sensitivity: 5 },
  },
}

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as Template[]

/** The draft that a template begins; the empty one for a name of none. */
export function draftFrom(template: string, scope: Pick<Draft, 'domainId'> = {}): Draft {
  const { conditions, ...rest } = { ...EMPTY, ...(TEMPLATES as Record<string, Partial<Draft>>)[template] }
  return { ...(rest as Draft), ...(conditions && { conditions }), ...(scope.domainId && { domainId: scope.domainId }) }
}
