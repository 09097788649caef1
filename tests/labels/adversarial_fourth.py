"""A fourth set: whole answers in the manner of chat models that reason first; see `adversarial`."""

from __future__ import annotations

from tests.labels.adversarial import AGREE, GRADES, NONE, QUALITY, YES_NO

CASES: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {
    YES_NO: (
        (
            (
                "Let me work through this step by step.\n\n1. **Resolution**: Yes, the quarrel ends.\n2. **Closure**: "
                "No, the letter is never read.\n3. **Pacing**: the last page is quick.\n\n**Answer: No**"
            ),
            "No",
        ),
        (
            (
                "To determine whether the form is new, consider several points:\n\n- Structure: linear, no jumps.\n"
                "- Voice: third person, no shifts.\n\nGiven these points, the story does not show originality.\n\nNo"
            ),
            "No",
        ),
        ("**Step 1:** The plot has no holes.\n\n**Step 2:** Nothing is left open.\n\n**Conclusion:** Yes.", "Yes"),
        (
            (
                "Yes, I can help with that! The story follows one narrator from start to end; nothing is new. "
                "My answer is No."
            ),
            "No|-",
        ),
        ("Yes, I'd be happy to evaluate the story. It is told in a plain manner.", NONE),
        ("Yes, I can see what the author tries, and it works.", "Yes"),
        ("No problem! Here is my evaluation.\n\nAnswer: Yes", "Yes"),
        (
            (
                "The background says that a strong ending offers closure. Does this? The brothers part, the farm goes, "
                "and no one looks back. It is earned. So, **yes**."
            ),
            "Yes",
        ),
        ("Reasoning: The twist is prepared by the letter. There is no cheating.\n\nAnswer: Yes.", "Yes"),
        ("Considering the definition, I find no evidence of subtext; therefore my answer is: no", "No"),
        ("### Evaluation\n\n**Does the story avoid cliches?**\n\nNo. The orphan, the storm: all are stock.", "No"),
        ("**Question:** Is the end earned?\n\n**Reasoning:** It is.\n\n**Final Answer:** *Yes*", "Yes"),
        ('In light of the above, "No" is the appropriate answer.', "No|-"),
        ("The correct answer is therefore 'Yes'.", "Yes"),
        ("Answer: Yes, the elements work together. However, no minor character is developed.", "Yes"),
        ("Yes. Although there are no villains, each voice is distinct. No perspective is mocked.", "Yes"),
        ("While it's tempting to say yes, the honest answer is no.", "No"),
        ("It's tempting to say no. But the honest answer is yes.", "Yes"),
        ("On the question of whether the end is abrupt (yes) or earned (no), I think it is earned.", NONE),
        ("My verdict is a firm yes", "Yes"),
        ("I'm torn, but I'll go with no.", "No"),
        ("I'd have to say yes.", "Yes|-"),
        ("I will have to answer No to this question.", "No|-"),
        ("Yes\n\n(Confidence: 80%. If the last scene were missing, my answer would be no.)", "Yes"),
        ("Final decision: **Yes.** Nothing is forced; no line is idle.", "Yes"),
        ("So the final answer is:\n\nNo", "No"),
        ("So the final answer is:\n\n> **Yes**", "Yes"),
        ("The final answer is $\\text{Yes}$.", "Yes|-"),
        ("Therefore: **No**", "No"),
        ("Thus no.", "No"),
        ("The story shows no originality in its form.", NONE),
        ("Overall, there is no sophisticated use of metaphor in the story.", NONE),
        ("In conclusion, no passage involves subtext.", NONE),
        ("In conclusion, the story does not surprise.", NONE),
        ("The answer is no doubt yes.", "Yes|-"),
        ("Its only question is: will she say yes? She does not.", NONE),
        ('The word "yes" closes the story, as it closes Ulysses.', NONE),
        ("'Yes' is the last word of the story.", NONE),
        ("Yes is the last word of the story.", NONE),
        ("No is what the father always says.", NONE),
        ("She is told no at every door. He is told yes at each.", NONE),
        ("A story of yes and no, of here and there.", NONE),
        ("The end is natural (no deus ex machina).", NONE),
        ("Score: Yes=1, No=0. This story: Yes", "Yes|-"),
        ("Yes = 1, No = 0. Answer: No", "No"),
        ("I'd give this test a pass, so Yes.", "Yes|-"),
        ("It fails the test. (No)", "No|-"),
        ("Test result: passed (Yes)", "Yes|-"),
        ("Yes; no; yes.", NONE),
        ("No.\nNo.\nNo.", "No"),
        ("Assistant: Yes, it does.", "Yes"),
        ("Judge: No", "No|-"),
        ("Sorry, no.", "No|-"),
        ("Sorry, I cannot.", "!refused|-"),
        ("Warning: content filtered.", NONE),
        ("The story was filtered through a child's eyes. Yes, it works.", "Yes|-"),
        ('{"reason": "no twist", "final": "No"}', "No"),
        ('{"test_1": "Yes"}', "Yes|-"),
        ('{"yes": false, "no": true}', NONE),
        ('{"answer": "Yes"} {"answer": "No"}', NONE),
        ('I think {"answer": "Yes"} fits best.', "Yes"),
        ('The format was {"answer": "Yes" or "No"}. Mine: {"answer": "No"}', "No"),
    ),
    AGREE: (
        ("I agree that it starts well, but on the whole I disagree.", "Disagree|-"),
        ("The statement says the end is earned. I would strongly disagree.", "Strongly disagree|-"),
        ("**Rating:** Agree\n\nI disagree with those who call it slow.", "Agree|-"),
        ("Disagree: it is neither new nor bold.", "Disagree"),
        ("On a scale from strongly disagree to strongly agree, I choose agree.", "Agree"),
        ("You may disagree. Rating: agree", "Agree"),
    ),
    GRADES: (
        ("Overall, I would assign a grade of B to this story.", "B"),
        ("B is the grade I would give.", "B|-"),
        ("My grade: an A, without question.", "A"),
        ("On an A to F scale, this is a D.", "D|-"),
        ("A to F: C", "C|-"),
        ("Grade A means excellent. Grade F means poor. Grade: C", "C"),
        ("A = excellent, F = poor. I'd say D.", "D"),
    ),
    QUALITY: (
        ("The story's originality can be rated as Fair.", "Fair|-"),
        ("I would say that it is a good story, though the end is poor. Final rating: Fair", "Fair"),
        ("Final rating → Very Good", "Very good"),
        ("It's good. Not excellent, but good.", NONE),
        ("The overall quality is excellent, the grammar poor.", NONE),
        ("I would describe the originality as poor.", "Poor|-"),
        ("Rated: Good", "Good"),
    ),
}
