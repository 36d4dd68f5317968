import { Alert, Button, Group, Stack } from '@mantine/core'
import { type FormEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { errorMessage, type FieldError, fieldErrorFor } from '../api/api-error.ts'
import { useKeyBindings } from '../shell/key-bindings.ts'
import { notices } from '../shell/notices.ts'
import { Data } from './data-text.tsx'
import { useIsMounted } from './use-is-mounted.ts'

interface Submission {
  /** For the `onSubmit` of a form. */
  submit(event?: FormEvent<HTMLFormElement>): void
  isSending: boolean
  /** The sentence about this field, for its `error`; undefined for none. */
  errorOf(field: string): string | undefined
  /** The sentence about no field in particular. */
  refusal: string | null
}

interface Refused extends FieldError {
  form: HTMLFormElement | null
  /** What had the focus when it was sent. */
  from: Element | null
}

/**
 * Sends what `act` sends, once at a time, and keeps what the server refused until the next time. The field that it refused
 * gets the focus, unless the person has gone on to another. Who has closed the dialog or left the page meanwhile is told by a
 * notice.
 */
export function useSubmit(
  fields: readonly string[],
  act: (form: HTMLFormElement | null) => Promise<unknown>,
): Submission {
  const [refused, refuse] = useState<Refused | null>(null)
  const [isSending, sending] = useState(false)
  const isBusy = useRef(false)
  const isHere = useIsMounted()
  // Together with the mark: a page that moves a moment later moves under the hand of who acts on the mark.
  useLayoutEffect(() => {
    if (refused && [refused.from, document.body].includes(document.activeElement)) {
      refused.form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
    }
  }, [refused])
  const send = async (form: HTMLFormElement | null) => {
    if (isBusy.current) return
    isBusy.current = true
    const from = document.activeElement
    sending(true)
    try {
      await act(form)
      refuse(null)
    } catch (error) {
      if (isHere()) refuse({ ...fieldErrorFor(fields, errorMessage(error)), form, from })
      else notices.refuse(errorMessage(error))
    } finally {
      isBusy.current = false
      sending(false)
    }
  }
  return {
    submit(event) {
      event?.preventDefault()
      void send(event?.currentTarget ?? null)
    },
    isSending,
    errorOf: (field) => (refused?.field === field ? refused.sentence : undefined),
    refusal: refused && refused.field === null ? refused.sentence : null,
  }
}

interface FormProps {
  submission: Submission
  /** The button's words, a verb and a noun. */
  button: string
  /** Beside the button. */
  actions?: ReactNode
  isWide?: boolean
  /** True where the page has another button that is the one to press. */
  isAside?: boolean
  children: ReactNode
}

/** Fields one below the other, the server's sentence, and one button; Ctrl and Enter press it. */
export function Form({
  submission: sending,
  button,
  actions: beside,
  isWide = false,
  isAside = false,
  children,
}: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  useKeyBindings({ 'Control+Enter': () => sendFocused(form.current) })
  return (
    <form ref={form} onSubmit={sending.submit}>
      <Stack gap="md" maw={isWide ? undefined : 480}>
        {children}
        {sending.refusal && (
          <Alert role="alert" color="red" variant="light">
            <Data>{sending.refusal}</Data>
          </Alert>
        )}
        <Group gap="sm">
          <Button type="submit" loading={sending.isSending} variant={isAside ? 'default' : 'filled'}>
            {button}
          </Button>
          {beside}
        </Group>
      </Stack>
    </form>
  )
}

/** Sends the form that has the focus, or the only one of the page; returns false for another. */
function sendFocused(form: HTMLFormElement | null): boolean {
  const focused = document.activeElement?.closest('form') ?? (document.forms.length === 1 ? form : null)
  if (form === null || focused !== form) return false
  form.requestSubmit()
  return true
}
