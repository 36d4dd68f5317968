import type { Form, Forms } from '#client/types.gen'
import type { Draft } from './draft.ts'
import type { Names } from './names.ts'

/** What each part of the editor takes. */
export interface PartProps {
  draft: Draft
  change(draft: Draft): void
  /** That of the draft's type; undefined for a type that the server does not know. */
  form: Form | undefined
  forms: Forms
  /** The server's sentence about the field at a path of the alert. */
  errorOf(path: string): string | undefined
  /** Of all fields that show refusals. */
  paths: readonly string[]
}

/** What the parts with conditions take. */
export type RulePart = Pick<PartProps, 'draft' | 'change' | 'form' | 'errorOf' | 'paths'> & { names: Names }
