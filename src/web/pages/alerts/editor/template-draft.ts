import { type Draft, EMPTY, NO_CONDITION } from './draft.ts'
import { TEMPLATES, type Template } from './templates.ts'

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as Template[]

/** Known properties of a new alert. */
interface TemplateScope {
  domainId?: string
  /** The parameter that must not be blank, as spelled in conditions. */
  parameter?: string
}

/** The draft for a template; an empty draft for an unknown name. */
export function draftFromTemplate(template: string, { domainId, parameter }: TemplateScope = {}): Draft {
  const { conditions, ...rest } = { ...EMPTY, ...TEMPLATES[template as Template] }
  const startConditions = parameter ? { logic: 'any' as const, items: [{ ...NO_CONDITION, parameter }] } : conditions
  return { ...rest, ...(startConditions && { conditions: startConditions }), ...(domainId && { domainId }) }
}
