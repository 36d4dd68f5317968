import { TEMPLATES, type Template } from './begin-with.ts'
import { type Draft, EMPTY } from './draft.ts'

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as Template[]

/** The draft that a template begins; the empty one for a name of none. */
export function draftFrom(template: string, scope: Pick<Draft, 'domainId'> = {}): Draft {
  const { conditions, ...rest } = { ...EMPTY, ...(TEMPLATES as Record<string, Partial<Draft>>)[template] }
  return { ...(rest as Draft), ...(conditions && { conditions }), ...(scope.domainId && { domainId: scope.domainId }) }
}
