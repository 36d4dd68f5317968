/** Escalation steps: in the settings, in the alert editor and on the page of an issue. */
export const escalation = {
  title: 'Escalation',
  intro:
    'If nobody acknowledges an issue, the channels of each step are notified in turn. The time counts from the notification of the opening and ends when the issue is acknowledged, muted or resolved.',
  ofAlerts: 'Alerts with their own steps don’t use these steps.',
  none: 'Issues are not escalated.',
  restrictedAction: 'Changing the escalation',
  saved: 'Escalation saved.',
  step: (n: number) => `Step ${n}`,
  minutes: (n: number) => `Minutes until step ${n}`,
  inStep: (field: string, n: number) => `${field} (step ${n})`,
  addStep: 'Add a step',
  removeStep: (n: number) => `Remove step ${n}`,
  steps: 'Steps',
  choices: {
    organization: 'Steps of the organization',
    own: 'Own steps',
    never: 'Never',
  },
  stepCount: (count: number) => (count === 1 ? '1 step' : `${count} steps`),
  escalates: 'Escalates',
  to: 'to',
  at: 'at',
  unless: 'unless acknowledged.',
  escalated: (step: number) => `Escalated: step ${step}`,
  delivery: (step: number) => `Escalation, step ${step}`,
}
