import { type Draft, EMPTY, NO_CONDITION } from './draft.ts'
import { TEMPLATES, type Template } from './templates.ts'

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as Template[]

/** What is already known about a new alert. */
interface About {
  domainId?: string
  /** The parameter that must not be blank, as spelled in conditions. */
  parameter?: string
}

/** The draft for a template; an empty draft for an unknown name. */
export function draftFrom(template: string, { domainId, parameter }: About = {}): Draft {
  const { conditions, ...rest } = { ...EMPTY, ...(TEMPLATES as Record<string, Partial<Draft>>)[template] }
  const asked = parameter ? { logic: 'any', items: [{ ...NO_CONDITION, parameter }] } : conditions
  return { ...(rest as Draft), ...(asked && { conditions: asked }), ...(domainId && { domainId }) }
}
