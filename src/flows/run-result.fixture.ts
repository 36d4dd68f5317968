import type { RunEvent, StepResult } from './run-result.ts'

/** Returns an event with these fields. Defaults: step 0, time 0, page `https://shop.example/`. */
export function runEvent(fields: Partial<RunEvent> = {}): RunEvent {
  return {
    step: 0,
    at: 0,
    vendor: 'Google Analytics 4',
    event: 'page_view',
    account: null,
    params: {},
    host: 'shop.example',
    path: '/',
    status: null,
    answered: false,
    ...fields,
  }
}

/** Returns a passed step with these fields. */
export function stepResult(fields: Partial<StepResult> = {}): StepResult {
  const { index = 0 } = fields
  return {
    index,
    type: 'click',
    title: `Click “Button ${index}”`,
    status: 'passed',
    startedAt: 0,
    durationMs: 10,
    error: null,
    healed: null,
    screenshot: false,
    ...fields,
  }
}
