import type { Form, Forms } from '#client/types.gen'
import type { Draft } from './draft.ts'
import type { Names } from './use-name-suggestions.ts'

/** Props of each section of the editor. */
export interface SectionProps {
  draft: Draft
  change(draft: Draft): void
  /** The form for the draft's type; undefined for a type that the server does not know. */
  form: Form | undefined
  forms: Forms
  /** Returns the server's error for the field at a path of the alert. */
  errorOf(path: string): string | undefined
  /** Paths of all fields that show errors. */
  paths: readonly string[]
}

/** Props of sections that contain conditions. */
export type RuleSectionProps = Pick<SectionProps, 'draft' | 'change' | 'form' | 'errorOf' | 'paths'> & { names: Names }
