/** The dialog of keyboard shortcuts. Keys of a sequence are separated by spaces. */
export const keys = [
  {
    title: 'Everywhere',
    keys: [
      { key: 'Ctrl K', does: 'Open the command palette' },
      { key: '?', does: 'Show this list' },
      { key: '/', does: 'Search on this page' },
      { key: 'c', does: 'New alert' },
      { key: 'z', does: 'Undo the last action' },
      { key: '1 2 3 4', does: 'Time range: 24 h, 3 d, 7 d, 30 d' },
      { key: 'Esc', does: 'Close, or clear the selection' },
    ],
  },
  {
    title: 'Go to',
    keys: [
      { key: 'g o', does: 'Overview' },
      { key: 'g i', does: 'Issues' },
      { key: 'g a', does: 'Alerts' },
      { key: 'g s', does: 'Signals' },
      { key: 'g d', does: 'Domains' },
      { key: 'g e', does: 'Explore' },
      { key: 'g c', does: 'Changes' },
      { key: 'g p', does: 'Compliance' },
      { key: 'g t', does: 'Tests' },
      { key: 'g n', does: 'Integrations' },
      { key: 'g l', does: 'Deliveries' },
      { key: 'g r', does: 'Weekly report' },
    ],
  },
  {
    title: 'In a list',
    keys: [
      { key: 'j k', does: 'Next, previous' },
      { key: 'Enter', does: 'Open' },
      { key: 'x', does: 'Select' },
      { key: 'Shift j', does: 'Extend the selection' },
      { key: 'a', does: 'Acknowledge' },
      { key: 'r', does: 'Resolve' },
      { key: 'u', does: 'Reopen' },
      { key: 'm', does: 'Mute' },
    ],
  },
  {
    title: 'On an issue',
    keys: [
      { key: 'j k', does: 'Next, previous issue in the list' },
      { key: 'a r u m', does: 'Acknowledge, resolve, reopen, mute' },
      { key: 'n', does: 'Write a note' },
      { key: 'y', does: 'Copy link' },
    ],
  },
  { title: 'In a form', keys: [{ key: 'Ctrl Enter', does: 'Save' }] },
]
