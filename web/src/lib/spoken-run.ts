/** A run and its picture, in sentences for people who cannot see them. */
import type { Environment, Frame, Run } from './api/types';
import { count, signed } from './format';
import { actionText } from './replay/words';
import { isSelfPlay } from './self-play';

type Told = Pick<
  Run,
  | 'state'
  | 'kind'
  | 'step'
  | 'total_timesteps'
  | 'episodes'
  | 'total_episodes'
  | 'mean_reward'
  | 'latest_eval'
  | 'algorithm'
>;

/** `Running. Step 412,672 of 1,000,000. Mean return +22.4.` */
export function spokenRun(run: Told, stale = false): string {
  const said = [capital(run.state), stale ? 'These figures are old' : '', ...far(run), well(run)];
  return said.flatMap((part) => (part ? `${part}.` : [])).join(' ');
}

function far(run: Told): string[] {
  if (run.kind === 'eval') {
    return [`${count(run.episodes)} of ${count(run.total_episodes)} episodes`];
  }
  if (run.step === 0) return [];
  const whole = run.total_timesteps > 0 ? ` of ${count(run.total_timesteps)}` : '';
  return [`Step ${count(run.step)}${whole}`];
}

function well(run: Told): string {
  const rating = run.latest_eval?.metrics?.elo;
  if (isSelfPlay(run)) return rating === undefined ? '' : `Rating ${count(rating)}`;
  if (run.kind === 'eval') return run.latest_eval ? `Mean ${signed(run.latest_eval.mean)}` : '';
  return run.mean_reward === null ? '' : `Mean return ${signed(run.mean_reward)}`;
}

/** What is on screen of an episode. */
interface Moment {
  step: number;
  /** Rewards so far. */
  reward: number;
  action: Frame['action'];
  observation: readonly number[];
}

/** `Step 120. Reward +120.0. Action: push right. cart position +0.12, ...` */
export function spokenFrame(moment: Moment, env: Environment, most: number): string {
  const { step, reward, action, observation } = moment;
  const names = env.observation_names;
  const seen = observation.map((value, index) => `${names[index]} ${signed(value, 2)}`);
  return [
    `Step ${count(step)}.`,
    `Reward ${signed(reward)}.`,
    ...(action === null ? [] : [`Action: ${actionText(action, env)}.`]),
    ...(seen.length > 0 && names.length <= most ? [`${seen.join(', ')}.`] : []),
  ].join(' ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
