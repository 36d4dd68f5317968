import type { AlertInput } from '#client/types.gen'
import type { messages } from '../../../messages.ts'

/* Templates for new alerts. No other dashboard file refers to alert types by name. */

/** The type of a new alert. */
export const DEFAULT_TYPE = 'data_validation'

export type Template = keyof typeof messages.alert.templates

type TemplateFields = Partial<Omit<AlertInput, 'conditions'>> & { conditions?: AlertInput['conditions'] | undefined }

/** The fields of each template that differ from an empty draft. */
export const TEMPLATES: Readonly<Record<Template, TemplateFields>> = {
  stopped: {
    alertType: 'volume_threshold',
    severity: 'critical',
    period: '1d',
    conditions: undefined,
    volume: { op: 'lte', count: 0, event: 'purchase' },
  },
  blank: {
    severity: 'high',
    conditions: { logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] },
    filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
  },
  number: {
    severity: 'high',
    conditions: { logic: 'any', items: [{ parameter: 'epn.value', op: 'regex', values: ['[^0-9.-]'] }] },
    filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
  },
  personal: {
    severity: 'critical',
    conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] },
  },
  dropped: {
    alertType: 'tag_volume_change',
    severity: 'high',
    period: '1d',
    conditions: undefined,
    volume: { direction: 'decrease', percent: 50, event: 'purchase' },
  },
  fails: {
    severity: 'high',
    conditions: {
      logic: 'any',
      items: [{ parameter: '$status', op: 'equals', values: ['failure', 'exception', 'timeout'] }],
    },
  },
  thanks: {
    alertType: 'journey',
    severity: 'high',
    conditions: undefined,
    journey: {
      version: 2,
      steps: [{ anchor: { kind: 'page', path: '/thank', op: 'contains' }, expect: [{ event: 'purchase' }] }],
    },
  },
  unusual: {
    alertType: 'volume_anomaly',
    severity: 'high',
    conditions: undefined,
    volume: { vendor: '*', sensitivity: 5 },
  },
}
