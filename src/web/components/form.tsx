import { Alert, Button, Group, Stack } from '@mantine/core'
import { type FormEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { errorMessage, type FieldError, fieldErrorFor } from '../api/api-error.ts'
import { useKeyBindings } from '../state/key-bindings.ts'
import { notices } from '../state/notices.ts'
import { Data } from './data-text.tsx'
import { useIsMounted } from './use-is-mounted.ts'

interface Submission {
  /** Handler for the form's `onSubmit`. */
  submit(event?: FormEvent<HTMLFormElement>): void
  isSending: boolean
  /** Returns the error message of a field; undefined for none. */
  errorOf(field: string): string | undefined
  /** Error message that belongs to no field; null if there is none. */
  refusal: string | null
}

interface Refused extends FieldError {
  /** The error message with its field. */
  message: string
  form: HTMLFormElement | null
  /** Element that was focused on submit. */
  from: Element | null
}

/**
 * Submits a form with `act`, one request at a time, and shows the error until the next attempt. The invalid field is
 * focused unless the user has moved the focus. An error of a field that the form doesn't show belongs to no field. If
 * the form has been closed in the meantime, the error is shown as a notice.
 */
export function useSubmit(
  fields: readonly string[],
  act: (form: HTMLFormElement | null) => Promise<unknown>,
): Submission {
  const [refused, refuse] = useState<Refused | null>(null)
  const [isSending, sending] = useState(false)
  const isBusy = useRef(false)
  const isHere = useIsMounted()
  // Runs in the same frame in which the error appears, so that the page doesn't scroll later.
  useLayoutEffect(() => {
    if (refused === null) return
    const { form, field, sentence, message, from } = refused
    if (form && field !== null && !showsText(form, sentence)) refuse({ ...refused, field: null, sentence: message })
    else if (form && [from, document.body].includes(document.activeElement)) revealError(form)
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
      const message = errorMessage(error)
      if (isHere()) refuse({ ...fieldErrorFor(fields, message), message, form, from })
      else notices.refuse(message)
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

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim()

/** Returns whether the element shows this text. Hidden text doesn't count. */
// biome-ignore lint/performance/useDomNodeTextContent: it contains hidden text
const showsText = (element: HTMLElement, text: string) => spaced(element.innerText).includes(spaced(text))

/** Focuses the invalid field; scrolls to the error if it belongs to no field. */
function revealError(form: HTMLFormElement): void {
  const invalid = form.querySelector<HTMLElement>('[aria-invalid=true]')
  if (invalid) invalid.focus()
  else form.querySelector('[role=alert]')?.scrollIntoView({ block: 'nearest' })
}

interface FormProps {
  submission: Submission
  /** Label of the submit button. */
  button: string
  /** Shown next to the submit button. */
  actions?: ReactNode
  isWide?: boolean
  /** True if the page has another primary button. */
  isAside?: boolean
  children: ReactNode
}

/** A form with its error message and submit button. Ctrl+Enter submits it. Only the server validates the fields. */
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
    <form ref={form} noValidate onSubmit={sending.submit}>
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

/** Submits the form if it contains the focus or is the only form. Returns whether it was submitted. */
function sendFocused(form: HTMLFormElement | null): boolean {
  const focused = document.activeElement?.closest('form') ?? (document.forms.length === 1 ? form : null)
  if (form === null || focused !== form) return false
  form.requestSubmit()
  return true
}
