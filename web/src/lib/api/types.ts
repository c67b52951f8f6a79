/** Short names for the generated types; nothing is declared twice. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type Control = Schemas['Control'];
export type Entry = Schemas['Entry'];
export type EvaluationEntry = Schemas['EvaluationEntry'];
export type Environment = Schemas['Environment'];
export type Episode = Schemas['Episode'];
export type Evaluation = Schemas['Evaluation'];
export type FeedMessage = Schemas['FeedMessage'];
export type Frame = Schemas['Frame'];
export type Game = Schemas['Game'];
export type Hint = Schemas['Hint'];
export type HumanEpisode = Schemas['HumanEpisode'];
export type HumanSession = Schemas['HumanSession'];
export type HumanSessionSummary = Schemas['HumanSessionSummary'];
export type Me = Schemas['Me'];
export type Metrics = Schemas['Metrics'];
export type MetricRow = Schemas['MetricRow'];
export type Opponent = Schemas['Opponent'];
export type Paint = Schemas['Paint'];
export type Play = Schemas['Play'];
export type PlayCommand = Schemas['PlayCommand'];
export type PlayFrame = Schemas['PlayFrame'];
export type PlaySummary = Schemas['PlaySummary'];
export type Preview = Schemas['Preview'];
export type Problem = Schemas['Problem'];
export type Role = Schemas['Role'];
export type Run = Schemas['Run'];
export type RunState = Schemas['RunState'];
export type Scene = Schemas['Scene'];
export type Series = Schemas['Series'];
export type Side = Schemas['Side'];
export type Spot = Schemas['Spot'];
