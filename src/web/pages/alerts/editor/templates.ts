import { TEMPLATES, type Template } from './begin-with.ts'
import { type Draft, EMPTY, NO_CONDITION } from './draft.ts'

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as Template[]

/** What a new alert is about, where that is known already. */
interface About {
  domainId?: string
  /** What must not be blank, as conditions spell it. */
  parameter?: string
}

/** The draft that a template begins; the empty one for a name of none. */
export function draftFrom(template: string, { domainId, parameter }: About = {}): Draft {
  const { conditions, ...rest } = { ...EMPTY, ...(TEMPLATES as Record<string, Partial<Draft>>)[template] }
  const asked = parameter ? { logic: 'any', items: [{ ...NO_CONDITION, parameter }] } : conditions
  return { ...(rest as Draft), ...(asked && { conditions: asked }), ...(domainId && { domainId }) }
}
